import { CopyButton } from '../parts/copy-button.tsx'
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

const Way = ({ name, text }: { name: string; text: string }) => (
  <div class="way">
    <CopyButton class="main" title={`Copy as ${name}`} text={text} />
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
    <pre tabIndex={0}>{text}</pre>
  </div>
)
