import { asOne, take } from '../../http/answers.ts'
import { run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Dialog } from '../habits/dialog.tsx'
import { DialogButtons } from '../parts/dialog-buttons.tsx'

interface SetHoldProps {
  /** The run or the stream to hold. Null: the person names it. */
  readonly of: string | null
  readonly onClose: () => void
}

/** The dialog that sets a hold. */
export function SetHold({ of, onClose }: SetHoldProps) {
  const set = async (event: Event) => {
    event.preventDefault()
    const { target, reason } = textsIn(event)
    const json = { of: of ?? target!, reason: reason!, by: person() }
    await run(`${json.of} is held.`, () => take(api.v1.holds.$post({ header: asOne(), json })))
    onClose()
  }
  return (
    <Dialog title={of === null ? 'Set a hold' : `Hold ${of}?`} onClose={onClose}>
      <form class="form start" onSubmit={set}>
        <p>
          Nobody can erase what is held, neither a person nor the retention, until someone lifts the hold. A hold on a
          run holds all its agents.
        </p>
        {of === null && (
          <label>
            Run, or the name of a stream
            <input name="target" class="mono" required maxLength={200} placeholder="a run’s id, or document-…" />
          </label>
        )}
        <Reason />
        <DialogButtons title="Hold" onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** The dialog that lifts a hold. */
export function LiftHold({ hold, onClose }: { hold: string; onClose: () => void }) {
  const lift = async (event: Event) => {
    event.preventDefault()
    const json = { reason: textsIn(event).reason!, by: person() }
    await run(`The hold ${hold} is lifted.`, () =>
      take(api.v1.holds[':hold'].lift.$post({ param: { hold }, header: {}, json })),
    )
    onClose()
  }
  return (
    <Dialog title={`Lift the hold ${hold}?`} onClose={onClose}>
      <form class="form start" onSubmit={lift}>
        <p>
          What no other hold keeps can then be erased. With separation of duties, another person than you must erase it.
        </p>
        <Reason />
        <DialogButtons title="Lift" onClose={onClose} />
      </form>
    </Dialog>
  )
}

const Reason = () => (
  <label>
    Reason, which is recorded
    <input name="reason" dir="auto" required maxLength={1000} pattern=".*\S.*" />
  </label>
)

const textsIn = (event: Event): Partial<Record<string, string>> =>
  Object.fromEntries(
    [...new FormData(event.currentTarget as HTMLFormElement)].map(([name, value]) => [name, String(value).trim()]),
  )
