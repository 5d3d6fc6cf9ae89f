import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface MenuProps {
  readonly label: ComponentChildren
  /** Aligns the panel with the button's right edge. */
  readonly end?: boolean
  readonly class?: string
  readonly children: ComponentChildren
}

/** A button that opens a panel below it. Escape, a click outside, and a link or a `data-closes` button inside close the panel. */
export function Menu({ label, end = false, class: name = '', children }: MenuProps) {
  const box = useRef<HTMLDetailsElement>(null)
  const [open, setOpen] = useState(false)
  const close = () => {
    if (box.current) box.current.open = false
  }
  useEffect(() => {
    if (!open) return
    const isInside = ({ target }: Event) => box.current?.contains(target as Node) === true
    const leave = (event: Event) => isInside(event) || close()
    const follow = (event: Event) =>
      isInside(event) && (event.target as Element).closest('a, [data-closes]') !== null && close()
    addEventListener('pointerdown', leave)
    addEventListener('focusin', leave)
    addEventListener('click', follow)
    return () => {
      removeEventListener('pointerdown', leave)
      removeEventListener('focusin', leave)
      removeEventListener('click', follow)
    }
  }, [open])
  return (
    <details
      ref={box}
      class={`menu ${end ? 'end' : ''} ${name}`}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return
        event.preventDefault()
        close()
        box.current?.querySelector('summary')?.focus()
      }}
    >
      <summary>{label}</summary>
      <div class="menu-panel">{children}</div>
    </details>
  )
}
