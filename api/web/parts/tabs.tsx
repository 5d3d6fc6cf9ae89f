import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'

export interface TabsProps {
  readonly label: string
  readonly tabs: readonly (readonly [name: string, title: string])[]
  readonly at: string
  readonly onChange: (name: string) => void
  readonly children: ComponentChildren
}

/** Tabs with the usual keyboard pattern: one tab stop, arrow keys between the tabs. */
export function Tabs({ label, tabs, at, onChange, children }: TabsProps) {
  const id = useId()
  // On a phone the list of tabs scrolls sideways. `scrollIntoView` would also scroll the page.
  useEffect(() => {
    const tab = document.getElementById(`${id}${at}`)
    const list = tab?.parentElement
    if (!tab || !list) return
    const [{ left, width }, box] = [tab.getBoundingClientRect(), list.getBoundingClientRect()]
    list.scrollLeft += left - box.left - (box.width - width) / 2
  }, [id, at])
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    const next = tabs[(tabs.findIndex(([name]) => name === at) + by + tabs.length) % tabs.length]![0]
    onChange(next)
    document.getElementById(`${id}${next}`)?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(([name, title]) => (
          <button
            key={name}
            id={`${id}${name}`}
            type="button"
            role="tab"
            class="plain"
            aria-selected={name === at}
            aria-controls={`${id}panel`}
            tabIndex={name === at ? 0 : -1}
            onClick={({ currentTarget }) => {
              onChange(name)
              // On a phone the panes are stacked, so the content of a tab can be below the screen.
              currentTarget.closest('.pane')?.scrollIntoView({ block: 'nearest' })
            }}
          >
            {title}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id={`${id}panel`} aria-labelledby={`${id}${at}`}>
        {children}
      </div>
    </>
  )
}
