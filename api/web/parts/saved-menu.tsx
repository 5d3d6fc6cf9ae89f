import { useRef, useState } from 'preact/hooks'
import { person } from '../client/session.ts'
import { Menu } from './menu.tsx'
import { SavedList } from './saved-list.ts'
import { shown } from './shown.ts'

/** A list of the present person. `isValue`: whether a stored value is usable. */
export function savedUnder<T>(kind: string, isValue: (found: unknown) => found is T): SavedList<T> {
  const list = new SavedList(kind, isValue, localStorage, person)
  addEventListener('storage', () => list.reload())
  return list
}

interface SavedMenuProps<T> {
  readonly label: string
  /** Aligns the panel with the button's right edge. */
  readonly end?: boolean
  readonly saved: SavedList<T>
  /** The value to save now. */
  readonly present: () => T
  /** Why the present value cannot be saved. Null or absent: it can. */
  readonly problem?: string | null
  readonly onOpen: (value: T) => void
}

/** A menu that saves the present value under a name, opens a saved one and removes it. */
export function SavedMenu<T>({ label, end = false, saved, present, problem = null, onOpen }: SavedMenuProps<T>) {
  const input = useRef<HTMLInputElement>(null)
  const [fault, setFault] = useState('')
  const save = () => {
    const name = input.current!.value.trim()
    if (name === '' || problem !== null) return
    try {
      saved.put(name, present())
      input.current!.value = ''
      setFault('')
    } catch {
      setFault('Not saved: the storage of this browser is full or switched off. Remove something from the list.')
    }
  }
  return (
    <Menu label={label} end={end}>
      {saved.items.value.map(({ name, value }) => (
        <span key={name} class="menu-line">
          <button type="button" class="link" data-closes onClick={() => onOpen(value)}>
            <bdi>{shown(name)}</bdi>
          </button>
          <button type="button" class="plain" aria-label={`Remove ${shown(name)}`} onClick={() => saved.remove(name)}>
            ×
          </button>
        </span>
      ))}
      <span class="menu-line">
        <input
          ref={input}
          dir="auto"
          aria-label="Name"
          placeholder="a name for this one"
          maxLength={60}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            // The menu may be inside a form, which Enter must not send.
            event.preventDefault()
            save()
          }}
        />
        <button type="button" onClick={save} disabled={problem !== null}>
          Save
        </button>
      </span>
      {problem !== null && <span class="quiet">{problem}</span>}
      {fault !== '' && (
        <span class="fault" role="alert">
          {fault}
        </span>
      )}
    </Menu>
  )
}
