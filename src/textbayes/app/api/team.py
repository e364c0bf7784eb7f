"""Members of a project, and what they disagree about."""

from __future__ import annotations

from fastapi import APIRouter

from textbayes.app import judging
from textbayes.app.access import Owner, Reader, RoomOf
from textbayes.app.api import schemas
from textbayes.app.api.projects import Topic
from textbayes.app.dashboard import agreements
from textbayes.app.members import list_members, list_strangers, match_person, set_role
from textbayes.app.people import names_of

router = APIRouter(prefix="/projects/{project_id}", tags=["team"])


@router.get("/members")
def members(room: RoomOf, who: Reader) -> list[schemas.MemberTold]:
    """List the members of a project."""
    return [schemas.MemberTold.model_validate(one._asdict()) for one in list_members(room.store, who.review.id)]


@router.put("/members", status_code=204)
def change_member(room: RoomOf, who: Owner, given: schemas.MemberChange) -> None:
    """Give somebody a role, or take it."""
    set_role(room.store, who.user, who.review, given.name, given.role)


@router.get("/people")
def strangers(room: RoomOf, who: Reader) -> list[schemas.StrangerTold]:
    """List the people whom the file of the project named, and who they are."""
    return [schemas.StrangerTold(**one._asdict()) for one in list_strangers(room.store, who.review)]


@router.put("/people", status_code=204)
def match(room: RoomOf, who: Owner, given: schemas.PersonMatch) -> None:
    """Say who a person of the file is."""
    match_person(room.store, who.user, who.review, given.name, given.account)


@router.post("/unblind", status_code=204)
def unblind(who: Owner) -> None:
    """See all answers from now on, where two people read every record; you read no more of them yourself."""
    judging.unblind(who.review, who.user.id)


@router.get("/conflicts")
def conflicts(room: RoomOf, who: Reader, topic: Topic = None) -> schemas.Conflicts:
    """See the records that people answered differently, and how far they agree."""
    name = who.place(topic).topic
    with who.review.looking() as desk:
        found, agreed = desk.conflicts(name), agreements(desk, name)
    people = names_of(room.store)
    return schemas.Conflicts(
        conflicts=[
            schemas.ConflictTold(id=one.id, answers={people.get(user, "?"): said for user, said in one.answers.items()})
            for one in found
        ],
        agreement=[
            schemas.AgreementTold(
                people=[people.get(user, "?") for user in one.users],
                n_records=one.n_records,
                n_same=one.n_same,
                kappa=one.kappa,
            )
            for one in agreed
        ],
    )


@router.post("/conflicts", status_code=204)
def settle(who: Owner, given: schemas.Settlement) -> None:
    """Settle a conflict."""
    judging.settle(who.review, who.place(given.topic), given.id, given.answer)
