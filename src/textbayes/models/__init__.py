"""Models of documents: linear, of counts, online, and soft clusters; each folder holds one kind."""
