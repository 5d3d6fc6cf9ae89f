import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A native dialog. The browser traps the focus and returns it afterwards. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  // Open before the next key event, so the dialog receives it.
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    return () => {
      // The `close` event arrives later and would close a dialog opened since.
      dialog?.addEventListener('close', (event) => event.stopImmediatePropagation(), { capture: true })
      dialog?.close()
    }
  }, [])
  return (
    <dialog
      ref={box}
      class="dialog"
      aria-label={title}
      // Close here instead of in the `close` event, which follows one task later. A key in between would meet a closed
      // dialog that is still rendered.
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
