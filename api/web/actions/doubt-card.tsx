import { useRef, useState } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import type { AskView } from '../../operations/approvals/schemas.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { JsonView } from '../parts/code/json-view.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { objectMembers, textOrEmpty } from '../run/calls/call-text.ts'
import { Terminal } from '../run/calls/terminal.tsx'
import { AgentWay } from './agent-way.tsx'
import { run } from './command.ts'

/** A call with an unknown outcome. A person says whether it happened. */
export function DoubtCard({ ask, toolCallId }: { ask: AskView; toolCallId: string }) {
  const { command, ...more } = objectMembers(ask.arguments)
  const { cwd, ...rest } = more
  // The terminal shows a folder that is a text.
  const others = typeof cwd === 'string' ? rest : more
  const result = useRef<HTMLInputElement>(null)
  const param = { toolCallId }
  const [round, setRound] = useState(0)
  const found = useLoaded(toolCallId, () => take(api.v1.doubts[':toolCallId'].$get({ param })), round)
  const questionHash = found !== null && 'value' in found ? found.value.questionHash : null
  const decide = (decision: 'happened' | 'run' | 'abandon', done: string) => () => {
    if (questionHash === null) return
    const text = result.current?.value.trim() ?? ''
    const json = {
      decision,
      questionHash,
      by: person(),
      ...(decision === 'happened' && text !== '' ? { result: text } : {}),
    }
    // A refused answer reloads the question. The next answer is for the reloaded question.
    void run(done, () => take(api.v1.doubts[':toolCallId'].$post({ param, header: asOne(), json }))).then(
      (isDone) => isDone || setRound(round + 1),
    )
  }
  return (
    <article class="ask">
      <h2>
        Did <bdi class="mono">{shown(ask.toolName ?? 'the call')}</bdi> take effect?
      </h2>
      <p>
        The process that ran this call stopped before it recorded a result. Look whether it took effect, then answer.
      </p>
      {ask.toolName === 'run_command' && typeof command === 'string' ? (
        <>
          <Terminal command={command} cwd={textOrEmpty(cwd)} result={{}} />
          {Object.keys(others).length > 0 && <JsonView name="other arguments" value={others} />}
        </>
      ) : (
        <JsonView value={ask.arguments} />
      )}
      <p class="quiet">
        <Foreign text={ask.text} /> · asked by <AgentWay runId={ask.runId} path={ask.agentPath} />
      </p>
      <div class="answers">
        <button type="button" onClick={decide('happened', 'Recorded: it happened.')}>
          It happened
        </button>
        <input ref={result} dir="auto" aria-label="Its result" placeholder="the result that the model gets" />
        <button type="button" onClick={decide('run', 'It runs now.')}>
          It did not: run it
        </button>
        <span class="quiet">The call is made again.</span>
        <button type="button" onClick={decide('abandon', 'Abandoned: the model is told.')}>
          Abandon it
        </button>
        <span class="quiet">The call is not made again. The model is told that its outcome is unknown.</span>
      </div>
    </article>
  )
}
