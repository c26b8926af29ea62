"""A slider and buttons over a stepper, for notebooks with ipywidgets.

The widget has no state of its own: it moves the stepper and draws what it then says. Moved from
outside, the stepper is drawn anew by `refresh()`, and whenever the widget is displayed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ascendsim.errors import RequestError
from ascendsim.view.html.stepper import stepper_html
from ascendsim.view.html.style import face, head
from ascendsim.view.html.values import MOST, values_html
from ascendsim.view.ub_map import places_of

if TYPE_CHECKING:
    from ascendsim.view.stepper import Stepper

AS_USED = "as used"  # the type that the kernel last used the buffer with
TYPES = (AS_USED, "float32", "float16", "bfloat16", "int32", "int16", "uint32", "uint16", "uint8")


def ipywidgets() -> Any:
    """Return the module.

    Raises
    ------
    RequestError
        When it is not installed.
    """
    try:
        import ipywidgets as found
    except ImportError:
        raise RequestError(
            "the widget needs ipywidgets: pip install 'ascendsim[notebook]' (or pip install "
            "ipywidgets); without it display the stepper itself"
        ) from None
    return found


class StepperWidget:
    """Widgets for one stepper: display it, or move `slider`, click `buttons[name]`.

    buffer, dtype, slot, lane : what is shown of which buffer, and where `write` goes to.
    """

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        w = self._made = ipywidgets()
        self._busy = False
        self.slider = w.IntSlider(
            0, 0, len(stepper), description="call", continuous_update=False, layout={"width": "96%"}
        )
        self.buttons = {
            name: w.Button(description=label, tooltip=tip, layout={"width": "auto"})
            for name, (label, tip, _) in _MOVES.items()
        }
        self._places = places_of(stepper.entries)
        self.buffer = w.Dropdown(options=list(self._places) or [""], description="buffer")
        self.dtype = w.Dropdown(options=TYPES, description="view as")
        self.slot = w.BoundedIntText(0, 0, 0, description="slot", layout={"width": "150px"})
        self.lane = w.BoundedIntText(
            0, 0, 0, step=MOST, description="from lane", layout={"width": "190px"}
        )
        self.stands, self.values = w.HTML(), w.HTML()
        self.box = w.VBox(
            [
                self.slider,
                w.HBox(list(self.buttons.values())),
                w.HBox([self.buffer, self.dtype, self.slot, self.lane]),
                self.values,
                self.stands,
            ]
        )
        self._connect()
        self.refresh()

    def refresh(self) -> StepperWidget:
        """Draw the stepper where it stands now, however it came there."""
        self._busy = True  # what is set from here is no wish of the user's
        try:
            self.slider.value = self.stepper.position
            self._limit()
        finally:
            self._busy = False
        self.stands.value = stepper_html(self.stepper)
        self.values.value = self._shown()
        return self

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the live widget, and what a page without a kernel shows in its place."""
        live = self.refresh().box._repr_mimebundle_(**options) or {}
        return {**live, "text/plain": repr(self.stepper), "text/html": self.stands.value}

    def _connect(self) -> None:
        self.slider.observe(self._when(self._slid), "value")
        for name, button in self.buttons.items():
            button.on_click(lambda _, name=name: self._clicked(name))
        for chosen in (self.buffer, self.dtype, self.slot, self.lane):
            chosen.observe(self._when(lambda: None), "value")

    def _when(self, move: Callable[[], None]) -> Callable[[Any], None]:
        def changed(_: Any) -> None:
            if not self._busy:
                move()
                self.refresh()

        return changed

    def _slid(self) -> None:
        self.stepper.goto(self.slider.value)

    def _clicked(self, name: str) -> None:
        _MOVES[name][2](self)
        self.refresh()

    def _limit(self) -> None:
        """Keep slot and lane within the chosen buffer, once it has memory."""
        if self.buffer.value in self.stepper.buffers():
            self.slot.max = self._places[self.buffer.value].num - 1
            self.lane.max = self.stepper.view(*self._asked).size - 1

    @property
    def _asked(self) -> tuple[str, str | None, int]:
        kind = None if self.dtype.value == AS_USED else self.dtype.value
        return self.buffer.value, kind, self.slot.value

    def _shown(self) -> str:
        name, _, slot = self._asked
        if name not in self.stepper.buffers():
            return face(head(name or "no buffer", "has no memory yet: InitBuffer comes later"))
        title = f"{name}@{slot}" if self.slot.max else name
        values, raw = self.stepper.view(*self._asked), self.stepper.bits(*self._asked)
        return values_html(title, values, raw, self.lane.value)

    def _next_of_pipe(self) -> None:
        instr = self.stepper.instr
        if instr is not None:
            self.stepper.until(pipe=instr.call.pipe.name.removeprefix("PIPE_"))

    def _next_write(self) -> None:
        if self.buffer.value:
            self.stepper.until(writes=self.buffer.value)


_MOVES: dict[str, tuple[str, str, Callable[[StepperWidget], Any]]] = {
    "first": ("⏮ first", "to the start of the block", lambda w: w.stepper.goto(0)),
    "back": ("◀ back", "undo the last call", lambda w: w.stepper.back()),
    "next": ("next ▶", "do the next call", lambda w: w.stepper.next()),
    "last": ("last ⏭", "to the end of the block", lambda w: w.stepper.goto(len(w.stepper))),
    "pipe": ("next of this pipe", "to the next call on the same pipe", StepperWidget._next_of_pipe),
    "write": ("until a write", "to the next write of the chosen buffer", StepperWidget._next_write),
}
