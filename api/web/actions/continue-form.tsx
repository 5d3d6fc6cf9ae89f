import { useLayoutEffect, useRef } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go } from '../page/router.ts'
import { run } from './command.ts'

/** Continues the session of an ended run of another agent with a further task, as a new run. */
export function ContinueForm({ runId, onDone }: { readonly runId: string; readonly onDone: () => void }) {
  const box = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => box.current?.focus(), [])
  const send = async (event: Event) => {
    event.preventDefault()
    const task = box.current?.value.trim() ?? ''
    if (task === '') return
    await run('Continued as a new run.', async () => {
      const json = { task, by: person() }
      const made = await take(api.v1.runs[':id'].continue.$post({ param: { id: runId }, header: asOne(), json }))
      onDone()
      go(`/runs/${made.runId}`)
    })
  }
  return (
    <form class="form" onSubmit={send}>
      <p>A new run of the same agent, which remembers this one. It works in the same folder.</p>
      <textarea ref={box} dir="auto" aria-label="Further task" placeholder="What the agent is to do next" />
      <button type="submit" class="main">
        Continue
      </button>
    </form>
  )
}
