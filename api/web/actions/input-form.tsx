import { useLayoutEffect, useRef } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { run } from './command.ts'

interface InputFormProps {
  readonly runId: string
  /** Absent: the root agent. */
  readonly agentId?: string
  /** The question that the input answers. Absent or null: none. */
  readonly toolCallId?: string | null
  readonly label?: string
  readonly onDone?: () => void
}

/** Sends a message to a run. Enter sends, Shift+Enter starts a new line. */
export function InputForm({ runId, agentId = runId, toolCallId, label = 'Say to the run', onDone }: InputFormProps) {
  const box = useRef<HTMLTextAreaElement>(null)
  // Focus before the next key event. After the paint would be too late: the page's shortcuts would receive the key.
  useLayoutEffect(() => (onDone === undefined ? undefined : box.current?.focus()), [])
  const send = async (event: Event) => {
    event.preventDefault()
    const text = box.current?.value.trim() ?? ''
    if (text === '') return
    const about = { ...(agentId === runId ? {} : { agent: agentId }), ...(toolCallId && { toolCallId }) }
    const json = { text, by: person(), ...about }
    const said = await run('It is said: the agent reads it at its next turn.', () =>
      take(api.v1.runs[':id'].input.$post({ param: { id: runId }, header: asOne(), json })),
    )
    if (!said) return
    box.current!.value = ''
    onDone?.()
  }
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event)
    if (event.key === 'Escape') onDone?.()
  }
  return (
    <form class="form" onSubmit={send}>
      <textarea ref={box} dir="auto" aria-label={label} placeholder={label} onKeyDown={key} />
      <button type="submit" class="main">
        Send
      </button>
    </form>
  )
}
