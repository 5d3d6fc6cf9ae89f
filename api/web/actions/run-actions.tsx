import { useState } from 'preact/hooks'
import { asOne, refusal, take } from '../../http/answers.ts'
import { api, send } from '../client/api.ts'
import { person } from '../client/session.ts'
import { SetHold } from '../keeping/hold-forms.tsx'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { saveBlob } from '../parts/save.ts'
import type { Detail } from '../run/run-model.ts'
import { busy, run } from './command.ts'
import { ContinueForm } from './continue-form.tsx'
import { ForkForm } from './fork-form.tsx'
import { InputForm } from './input-form.tsx'
import { RestoreForm } from './restore-form.tsx'

const hasEnded = (status: string): boolean => status === 'completed' || status === 'failed'
type Form = 'input' | 'continue' | 'fork' | 'restore' | 'cancel' | 'hold' | null

interface RunActionsProps {
  readonly detail: Detail
  readonly step: number | null
  readonly canHold: boolean
  readonly canRunAgain: boolean
}

/**
 * The commands that a person can give to a run. `step`: the step at the page's position; null: the root agent has none
 * there. `canHold`: whether the person may set a hold.
 * `canRunAgain`: whether the person may read the settings of the run and start another one.
 */
export function RunActions({ detail, step, canHold, canRunAgain }: RunActionsProps) {
  const { runId, status, paused, driving, interrupted, waiting, workspace, ungoverned } = detail.run
  const [form, setForm] = useState<Form>(null)
  const over = hasEnded(status)
  // keepup does not drive an external agent. A person can only end its run and restore its files.
  const commands = !over && !ungoverned
  // Resume has no effect while the run waits only for people.
  const waitsForPeople = !interrupted && waiting.length > 0 && waiting.every((one) => one.for !== 'model')
  const param = { id: runId }
  const by = person()
  const toggle = (name: Form) => setForm(form === name ? null : name)
  const close = () => setForm(null)
  useKeys({
    i: () => (commands ? toggle('input') : false),
    f: () => (ungoverned ? false : toggle('fork')),
    Escape: () => (form === null ? false : close()),
  })
  const command = (kind: 'pause' | 'resume' | 'step', done: string) => () =>
    void run(done, () => take(api.v1.runs[':id'][kind].$post({ param, header: asOne(), json: { by } })))
  const cancel = () =>
    run('The run is asked to end.', () =>
      take(api.v1.runs[':id'].cancel.$post({ param, header: asOne(), json: { by } })),
    ).then(close)
  const exported = () =>
    run('Exported: drop the file on this page to view it anywhere.', async () => {
      const answer = await send(`/v1/runs/${encodeURIComponent(runId)}/export`)
      if (!answer.ok) throw await refusal(answer)
      saveBlob(`${runId}.ndjson`, await answer.blob())
    })
  const openButton = (name: Exclude<Form, null>, label: string) => (
    <button type="button" aria-expanded={form === name} onClick={() => toggle(name)}>
      {label}
    </button>
  )
  return (
    <>
      <fieldset class="actions" disabled={busy.value} aria-label="Actions">
        {commands && !paused && (
          <button type="button" onClick={command('pause', 'Paused: nothing new begins.')}>
            Pause
          </button>
        )}
        {commands && (paused || (!driving && !waitsForPeople)) && (
          <button type="button" onClick={command('resume', 'The run goes on.')}>
            Resume
          </button>
        )}
        {commands && paused && (
          <button type="button" onClick={command('step', 'The run goes on to the end of its turn.')}>
            Step
          </button>
        )}
        {commands && openButton('input', 'Say (i)')}
        {!ungoverned && openButton('fork', 'Fork (f)')}
        {canRunAgain && detail.continuable && openButton('continue', 'Continue')}
        {canRunAgain && (
          <a class="button" href={`/start?from=${encodeURIComponent(runId)}`}>
            Run again
          </a>
        )}
        {workspace !== null && openButton('restore', 'Restore')}
        <button type="button" onClick={exported}>
          Export
        </button>
        {canHold && openButton('hold', 'Hold')}
        {!over && openButton('cancel', 'Cancel')}
      </fieldset>
      {form === 'input' && <InputForm runId={runId} onDone={close} />}
      {form === 'continue' && <ContinueForm runId={runId} onDone={close} />}
      {form === 'fork' && <ForkForm runId={runId} onDone={close} />}
      {form === 'restore' && <RestoreForm runId={runId} at={step} onDone={close} />}
      {form === 'hold' && <SetHold of={runId} onClose={close} />}
      {form === 'cancel' && (
        <div class="form">
          <p>End this run? What is at work is stopped. A fork can go on from any of its steps.</p>
          <button type="button" class="main" onClick={cancel}>
            End the run
          </button>
          <button type="button" onClick={close}>
            Let it go on
          </button>
        </div>
      )}
    </>
  )
}
