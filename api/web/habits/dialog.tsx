import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A dialog of the browser: it keeps the focus, and gives it back. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  // Before the next key, which is for the dialog.
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    return () => {
      // Its event would come later, and close what was opened in its place.
      dialog?.addEventListener('close', (event) => event.stopImmediatePropagation(), { capture: true })
      dialog?.close()
    }
  }, [])
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-label={title}
      // The event of the closing comes a task later: a key that is heard before it would find the dialog shown and closed.
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        box.current?.close()
        onClose()
      }}
      onClose={onClose}
      onClick={(event) => event.target === box.current && onClose()}
    >
      <div class="dialog-body">
        <h1>{title}</h1>
        {children}
      </div>
    </dialog>
  )
}
