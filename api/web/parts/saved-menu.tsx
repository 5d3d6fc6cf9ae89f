import type { Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Menu } from './menu.tsx'
import { shown } from './shown.ts'
import { stored } from './stored.ts'

export interface Saved<T> {
  readonly name: string
  readonly value: T
}

/** Named values in the browser's storage. `isValue`: whether a stored value is usable. */
export function savedUnder<T>(place: string, isValue: (found: unknown) => found is T): Signal<readonly Saved<T>[]> {
  const isSaved = (one: Partial<Saved<unknown>> | null): one is Saved<T> =>
    typeof one?.name === 'string' && isValue(one.value)
  return stored(place, (found): readonly Saved<T>[] => (Array.isArray(found) ? found.filter(isSaved) : []))
}

interface SavedMenuProps<T> {
  readonly label: string
  /** Aligns the panel with the button's right edge. */
  readonly end?: boolean
  readonly saved: Signal<readonly Saved<T>[]>
  /** The value to save now. */
  readonly present: () => T
  /** Why the present value cannot be saved. Null or absent: it can. */
  readonly problem?: string | null
  readonly onOpen: (value: T) => void
}

/** A menu that saves the present value under a name, opens a saved one and removes it. */
export function SavedMenu<T>({ label, end = false, saved, present, problem = null, onOpen }: SavedMenuProps<T>) {
  const input = useRef<HTMLInputElement>(null)
  const without = (name: string) => saved.value.filter((one) => one.name !== name)
  const save = () => {
    const name = input.current!.value.trim()
    if (name === '' || problem !== null) return
    saved.value = [...without(name), { name, value: present() }].sort((a, b) => (a.name < b.name ? -1 : 1))
    input.current!.value = ''
  }
  return (
    <Menu label={label} end={end}>
      {saved.value.map(({ name, value }) => (
        <span key={name} class="menu-line">
          <button type="button" class="link" data-closes onClick={() => onOpen(value)}>
            <bdi>{shown(name)}</bdi>
          </button>
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${shown(name)}`}
            onClick={() => {
              saved.value = without(name)
            }}
          >
            ×
          </button>
        </span>
      ))}
      <span class="menu-line">
        <input
          ref={input}
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
    </Menu>
  )
}
