import { useEffect, useId, useState } from 'preact/hooks'
import { shown } from '../parts/shown.ts'
import { Dialog } from './dialog.tsx'
import { type Find, findsOf, type Open, runsLike } from './search-results.ts'

/** The pause in typing before a search for runs, in ms. */
const PAUSE = 200
const MOST = 12

/** The command palette: a field to find screens, runs and settings. */
export function Palette({ onClose, open }: { onClose: () => void; open: Open }) {
  const id = useId()
  const [text, setText] = useState('')
  const [runs, setRuns] = useState<readonly Find[]>([])
  const [at, setAt] = useState(0)
  useEffect(() => {
    let over = false
    const timer = setTimeout(() => {
      runsLike(text).then(
        (found) => over || setRuns(found),
        () => over || setRuns([]),
      )
    }, PAUSE)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [text])
  const finds = [...findsOf(text, open), ...runs].slice(0, MOST)
  const place = Math.min(at, Math.max(0, finds.length - 1))
  const take = (find: Find | undefined) => {
    if (find === undefined) return
    onClose()
    find.act()
  }
  const key = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) setAt((place + by + finds.length) % Math.max(1, finds.length))
    else if (event.key === 'Enter') take(finds[place])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        class="palette-field"
        dir="auto"
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}list`}
        aria-activedescendant={finds.length > 0 ? `${id}${place}` : undefined}
        aria-label="A screen, a run by its id or text, a time zone"
        placeholder="a screen, a run, a time zone"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={key}
      />
      <div class="palette" role="listbox" id={`${id}list`} aria-label="Found">
        {finds.map((find, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen one
          <div
            key={`${find.title} ${find.more}`}
            id={`${id}${i}`}
            role="option"
            aria-selected={i === place}
            onClick={() => take(find)}
          >
            <bdi>{shown(find.title)}</bdi> <span class="quiet">{shown(find.more ?? '')}</span>
          </div>
        ))}
      </div>
      {finds.length === 0 && <p class="quiet">Nothing is called so.</p>}
    </Dialog>
  )
}
