import { useLayoutEffect, useRef } from 'preact/hooks'

/** What keys do, by their names: `j`, `Shift+ArrowRight`. False: the key was not meant for it. */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => unknown>>

const layers: { current: Keys }[] = []

/** Places where keys write. */
const writes = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(?:checkbox|radio|button|submit)$/.test(target.type))

export const nameOf = (event: Pick<KeyboardEvent, 'key' | 'shiftKey'>): string =>
  event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  if (writes(event.target) && event.key !== 'Escape') return
  // What stands behind a dialog hears no keys.
  if (document.querySelector('dialog[open]') !== null) return
  const name = nameOf(event)
  for (const layer of layers.toReversed()) {
    const act = layer.current[name]
    if (act === undefined || act(event) === false) continue
    event.preventDefault()
    return
  }
})

/** Keys that hold while a part of the page is there; the last part to come is asked first. */
export function useKeys(keys: Keys): void {
  const layer = useRef(keys)
  layer.current = keys
  useLayoutEffect(() => {
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}
