() => {
  // What is wrong with the page as it is laid out now: a list of sentences, empty if nothing is.
  const found = new Set();
  const width = window.innerWidth;
  const root = document.scrollingElement;
  if (root.scrollWidth > width) found.add(`the page is ${root.scrollWidth} wide in ${width}`);

  const channels = (text) => {
    const numbers = text.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    const scale = text.startsWith("color(srgb") ? 255 : 1;
    return [...numbers.slice(0, 3).map((one) => one * scale), numbers.length > 3 ? numbers[3] : 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((one) => one / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (first, second) => {
    const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  // What an element has from those above it: the colour behind, boxes that clip, whether it is for screen readers only.
  const known = new Map();
  const about = (element) => {
    if (!element) return { behind: [255, 255, 255], clipping: [], unseen: false };
    if (!known.has(element)) {
      const above = about(element.parentElement), style = getComputedStyle(element);
      const clips = style.overflowX !== "visible" && style.display !== "inline" && element !== document.body;
      known.set(element, {
        behind: over(channels(style.backgroundColor), above.behind),
        clipping: clips ? [...above.clipping, element.getBoundingClientRect()] : above.clipping,
        unseen: above.unseen || style.clipPath === "inset(50%)" || style.opacity === "0",
      });
    }
    return known.get(element);
  };

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement, text = node.data.trim();
    if (!text || ["STYLE", "TITLE"].includes(element.tagName) || !element.checkVisibility()) continue;
    const { behind, clipping, unseen } = about(element);
    if (unseen) continue;
    seen += 1;
    const named = `“${text.slice(0, 40)}” in <${element.tagName.toLowerCase()} class="${element.getAttribute("class") || ""}">`;
    const range = document.createRange();
    range.selectNodeContents(node);
    const cell = element.closest("td, th, li, div, figcaption"), own = cell?.getBoundingClientRect();
    for (const box of [...range.getClientRects()].filter((one) => one.width > 0)) {
      const outside = (area, slack) => box.left < area.left - slack || box.right > area.right + slack;
      if (outside({ left: 0, right: width }, 0.5)) found.add(`${named} reaches from ${box.left} to ${box.right}`);
      if (clipping.some((area) => outside(area, 0.5))) found.add(`${named} is clipped`);
      if (own && outside(own, 1.5)) found.add(`${named} runs out of its <${cell.tagName}>`); // and lies upon the next
    }
    const style = getComputedStyle(element), drawing = element.ownerSVGElement;
    const ratio = contrast(over(channels(drawing ? style.fill : style.color), behind), behind);
    if (ratio < 4.5) found.add(`${named} has a contrast of ${ratio.toFixed(2)}`);
    const size = parseFloat(style.fontSize) * (drawing ? drawing.getScreenCTM().a : 1);
    if (size < 8) found.add(`${named} is ${size.toFixed(1)} pixels high`);
  }
  for (const element of document.body.querySelectorAll("*")) {
    const hides = ["hidden", "clip"].includes(getComputedStyle(element).overflowX) && !element.closest("svg");
    const more = element.scrollWidth > element.clientWidth;
    if (hides && more && !about(element).unseen) found.add(`<${element.tagName}> hides a part of itself`);
  }
  if (document.querySelector("script")) found.add("there is a script");
  if (seen < 100) found.add(`only ${seen} pieces of text were seen`);
  return [...found];
}
