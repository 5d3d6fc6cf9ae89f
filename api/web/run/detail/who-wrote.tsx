import { jump } from '../../page/router.ts'
import { shown } from '../../parts/shown.ts'

interface WhoWroteProps {
  readonly runId: string
  /** The event that last wrote the value. Null: not known. */
  readonly writer: { readonly agentId: string; readonly revision: number } | null
  /** Names the value for screen readers. */
  readonly what: string
}

/** A button from a value to the event that last wrote it. */
export function WhoWrote({ runId, writer, what }: WhoWroteProps) {
  if (writer === null) return null
  const { agentId, revision } = writer
  return (
    <button
      type="button"
      class="link"
      title={`Event ${revision} wrote it`}
      aria-label={`Who wrote this? ${shown(what)}, #${revision}`}
      onClick={() => jump({ agent: agentId === runId ? null : agentId, at: String(revision), tab: null })}
    >
      Who wrote this?
    </button>
  )
}
