import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { waysTo } from './equivalent-commands.ts'

/** Offers the current view as a keepup command, a curl request and a link. */
export function CopyAs({ onClose }: { onClose: () => void }) {
  const { keepup, curl } = waysTo(new URL(location.href))
  return (
    <Dialog title="Copy this view" onClose={onClose}>
      {keepup !== null && <Way name="keepup" text={keepup} />}
      <Way name="curl" text={curl} />
      <Way name="link" text={location.href} />
      <p>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </p>
    </Dialog>
  )
}

function Way({ name, text }: { name: string; text: string }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('copied')
    } catch {
      // The browser refuses access to the clipboard without a secure origin or the permission.
      setSaid('select the text and copy it')
    }
  }
  return (
    <div class="way">
      <button type="button" class="main" onClick={() => void copy()}>
        Copy as {name}
      </button>{' '}
      <span role="status">{said}</span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}
