import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { useRights } from '../access/rights.ts'
import { shown } from '../parts/shown.ts'
import { Dialog } from './dialog.tsx'
import { remoteSearch } from './remote-results.ts'
import { type Find, findKey, findsOf, type Open } from './search-results.ts'

/** The pause in typing before a search on the server, in ms. */
const PAUSE = 200
/** The most screens and settings. */
const MOST = 12
/** The same when the server has found something too. */
const MOST_BESIDE = 5

/** The command palette: a field to find screens, settings, runs, events, files, documents and people. */
export function Palette({ onClose, open }: { onClose: () => void; open: Open }) {
  const id = useId()
  const [text, setText] = useState('')
  const [answer, setAnswer] = useState<{ readonly text: string; readonly finds: readonly Find[] } | null>(null)
  /** The key of the chosen entry: the list changes when the server answers. Null: the first one. */
  const [chosen, setChosen] = useState<string | null>(null)
  const rights = useRights()
  const search = useMemo(() => (rights === null ? null : remoteSearch(rights)), [rights !== null])
  useEffect(() => {
    const over = new AbortController()
    const timer = setTimeout(() => {
      void search?.(text, over.signal).then((finds) => over.signal.aborted || setAnswer({ text, finds }))
    }, PAUSE)
    return () => {
      over.abort()
      clearTimeout(timer)
    }
  }, [text, search])
  const remote = answer?.text === text ? answer.finds : []
  const most = remote.length > 0 ? MOST_BESIDE : MOST
  const own = findsOf(text, open).filter((find, i) => i < most || findKey(find) === chosen)
  const finds = [...own, ...remote]
  const groups = [...Map.groupBy(finds.entries(), ([_, { kind }]) => kind)]
  const place = Math.max(
    0,
    finds.findIndex((find) => findKey(find) === chosen),
  )
  useEffect(() => {
    document.getElementById(`${id}${place}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, place])
  const take = (find: Find | undefined) => {
    if (find === undefined) return
    onClose()
    find.act()
  }
  const key = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) {
      const next = finds[(place + by + finds.length) % Math.max(1, finds.length)]
      if (next !== undefined) setChosen(findKey(next))
    } else if (event.key === 'Enter') take(finds[place])
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
        aria-label="A screen, a run, a text, a file, a document, a person, a time zone"
        placeholder="a screen, a run, a text, a file, a document, a person"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setChosen(null)
        }}
        onKeyDown={key}
      />
      <div class="palette" role="listbox" id={`${id}list`} aria-label="Found">
        {groups.map(([kind, entries]) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be in a list box
          <div key={kind} role="group" aria-label={kind}>
            <div class="quiet" aria-hidden="true">
              {kind}
            </div>
            {entries.map(([i, find]) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen one
              <div
                key={findKey(find)}
                id={`${id}${i}`}
                role="option"
                aria-selected={i === place}
                onClick={() => take(find)}
              >
                <bdi>{shown(find.title)}</bdi> <span class="quiet">{shown(find.more ?? '')}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
      {finds.length === 0 && <p class="quiet">Nothing is called so.</p>}
    </Dialog>
  )
}
