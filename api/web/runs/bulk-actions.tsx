import { useState } from 'preact/hooks'
import { asOne, refusal, take } from '../../http/answers.ts'
import type { Run } from '../../operations/runs/schemas.ts'
import { busy, run } from '../actions/command.ts'
import { api, errorText, send } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go } from '../page/router.ts'
import { countText, short } from '../parts/format.ts'
import { saveBlob } from '../parts/save.ts'

/** Sends a command to each run in turn. Rejects after the last one with the faults, if there were any. */
async function toEach(runs: readonly Run[], command: (param: { id: string }) => Promise<unknown>): Promise<void> {
  const faults: string[] = []
  for (const { runId } of runs)
    await command({ id: runId }).catch((error: unknown) => faults.push(`${short(runId)}: ${errorText(error)}`))
  if (faults.length > 0)
    throw new Error(`${runs.length - faults.length} of ${countText(runs.length, 'run')} done. ${faults.join('; ')}`)
}

interface BulkActionsProps {
  readonly runs: readonly Run[]
  readonly onDone: () => void
}

/** The commands for several runs at once. */
export function BulkActions({ runs, onDone }: BulkActionsProps) {
  const [asks, setAsks] = useState<'cancel' | 'fork' | null>(null)
  const open = runs.filter(({ status }) => status !== 'completed' && status !== 'failed')
  const forkable = runs.filter(({ ungoverned }) => !ungoverned)
  const by = person()
  const perform = async (done: string, command: () => Promise<void>) => {
    if (await run(done, command)) onDone()
    setAsks(null)
  }
  const cancel = () =>
    perform(`${countText(open.length, 'run')} asked to end.`, () =>
      toEach(open, (param) => take(api.v1.runs[':id'].cancel.$post({ param, header: asOne(), json: { by } }))),
    )
  const fork = () =>
    perform(`${countText(forkable.length, 'run')} forked.`, () =>
      toEach(forkable, (param) => take(api.v1.runs[':id'].fork.$post({ param, header: asOne(), json: { by } }))),
    )
  const pack = () =>
    run('Exported as a pack: drop the file on this page to check it.', async () => {
      const which = new URLSearchParams(runs.map(({ runId }) => ['run', runId]))
      const answer = await send(`/v1/packs?${which}`)
      if (!answer.ok) throw await refusal(answer)
      saveBlob('runs.keepup-pack.tar', await answer.blob())
    })
  return (
    <fieldset class="bar bulk" disabled={busy.value} aria-label="Actions for the chosen runs">
      <span role="status">{countText(runs.length, 'run')} chosen</span>
      {asks === null ? (
        <>
          <button type="button" disabled={open.length === 0} onClick={() => setAsks('cancel')}>
            Cancel
          </button>
          <button type="button" disabled={forkable.length === 0} onClick={() => setAsks('fork')}>
            Fork
          </button>
          <button type="button" onClick={pack}>
            Export
          </button>
          {runs.length === 2 && (
            <button type="button" onClick={() => go(`/compare?a=${runs[1]!.runId}&b=${runs[0]!.runId}`)}>
              Compare
            </button>
          )}
          <button type="button" class="plain" onClick={onDone}>
            Choose none
          </button>
        </>
      ) : (
        <>
          <span>
            {asks === 'cancel'
              ? `End ${countText(open.length, 'run')}? ${left(runs.length - open.length, 'ended before')}`
              : `Fork ${countText(forkable.length, 'run')} at their ends, to go on at once? ${left(runs.length - forkable.length, 'by other agents cannot be forked')}`}
          </span>
          <button type="button" class="main" onClick={asks === 'cancel' ? cancel : fork}>
            {asks === 'cancel' ? 'End them' : 'Fork them'}
          </button>
          <button type="button" onClick={() => setAsks(null)}>
            Leave them
          </button>
        </>
      )}
    </fieldset>
  )
}

const left = (n: number, why: string): string => (n === 0 ? '' : `${n} ${why}.`)
