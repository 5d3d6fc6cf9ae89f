import { useLayoutEffect, useRef } from 'preact/hooks'

/** Handlers by key names such as `j` or `Shift+ArrowRight`. A handler that returns false passes the key on. */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => unknown>>

const layers: { current: Keys }[] = []

/** Whether keys type text into this element. */
const writes = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(?:checkbox|radio|button|submit)$/.test(target.type))

/** Whether Enter has a meaning of its own on this element. */
export const takesEnter = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a,button,input,select,textarea,summary,label,[role=button]') !== null

const nameOf = (event: Pick<KeyboardEvent, 'key' | 'shiftKey'>): string =>
  event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  if (writes(event.target) && event.key !== 'Escape') return
  // Shortcuts are disabled behind an open dialog.
  if (document.querySelector('dialog[open]') !== null) return
  const name = nameOf(event)
  for (const layer of layers.toReversed()) {
    const act = layer.current[name]
    if (act === undefined || act(event) === false) continue
    event.preventDefault()
    return
  }
})

/** Handles keys while the component is mounted. The component mounted last receives a key first. */
export function useKeys(keys: Keys): void {
  const layer = useRef(keys)
  layer.current = keys
  useLayoutEffect(() => {
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}
