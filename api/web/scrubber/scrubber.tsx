import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { clock } from '../parts/format.ts'
import type { AgentModel } from '../run/agent-model.ts'
import { parsePosition } from '../run/outline.ts'
import { at, goTo } from '../run/position.ts'
import { Strip } from './strip.tsx'

/** The time per step during playback, in ms. */
const PLAY_MS = 350

/** The control for the page's position: drag, keys, typed input and playback. */
export function Scrubber({ agent, place }: { agent: AgentModel; place: number }) {
  const { outline } = agent
  const [playing, setPlaying] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const length = agent.length.value
  const last = Math.max(0, length - 1)
  const to = (revision: number) => goTo(revision >= last ? null : revision)
  const move = (by: number, what: 'event' | 'step' | 'turn') => {
    setPlaying(false)
    to(outline.moved(place, by, what))
  }
  useEffect(() => {
    if (!playing) return
    if (place >= last) return setPlaying(false)
    const timer = setTimeout(() => to(outline.moved(place, 1, 'step')), PLAY_MS)
    return () => clearTimeout(timer)
  }, [playing, place, last])
  const play = () => {
    if (!playing && place >= last) goTo(0)
    setPlaying(!playing)
  }
  useKeys({
    ArrowLeft: () => move(-1, 'step'),
    ArrowRight: () => move(1, 'step'),
    'Shift+ArrowLeft': () => move(-1, 'turn'),
    'Shift+ArrowRight': () => move(1, 'turn'),
    ',': () => move(-1, 'event'),
    '.': () => move(1, 'event'),
    Home: () => to(0),
    End: () => goTo(null),
    p: play,
    g: () => input.current?.select(),
  })
  const typed = (event: Event) => {
    const box = event.currentTarget as HTMLInputElement
    const found = parsePosition(outline, box.value)
    box.setCustomValidity(found === null ? 'Type an event (120), a step (s12), a turn (t4), or end' : '')
    if (found === null) return void box.reportValidity()
    if (found === 'end') goTo(null)
    else to(found)
    box.blur()
  }
  const words = `event ${place} of ${last}, turn ${outline.turns[place] ?? 0}, step ${outline.steps[place] ?? 0}`
  return (
    <div class="scrubber">
      <button type="button" class="plain" aria-label="Step back" onClick={() => move(-1, 'step')}>
        ◀
      </button>
      <button type="button" class="plain" aria-label={playing ? 'Stop' : 'Play'} onClick={play}>
        {playing ? '❚❚' : '▶'}
      </button>
      <button type="button" class="plain" aria-label="Step on" onClick={() => move(1, 'step')}>
        ▶❘
      </button>
      <Strip
        outline={outline}
        length={length}
        place={place}
        words={words}
        onMove={to}
        onGrab={() => setPlaying(false)}
      />
      <label>
        at{' '}
        <input
          ref={input}
          class="place"
          value={String(place)}
          title="An event (120), a step (s12), a turn (t4), or end"
          aria-label="Position: an event, s and a step, t and a turn, or end"
          onChange={typed}
          onKeyDown={(event) => event.key === 'Enter' && typed(event)}
        />
      </label>
      <span class="figures">
        {[
          ...(outline.turns[place] ? [`turn ${outline.turns[place]}`, `step ${outline.steps[place] ?? 0}`] : []),
          ...(outline.times[place] === undefined ? [] : [clock(outline.times[place])]),
        ].join(' · ')}
      </span>
      <button type="button" class={at.value === null ? 'plain on' : 'plain'} onClick={() => goTo(null)} title="End">
        {at.value === null ? 'at the end' : 'to the end'}
      </button>
    </div>
  )
}
