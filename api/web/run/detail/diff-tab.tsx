import { api, take } from '../../client/api.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { PatchView } from '../../parts/patch-view.tsx'
import { shown } from '../../parts/shown.ts'
import type { DetailProps } from './detail-pane.tsx'

/** What the step at the position changed: the state, the messages and the files, beside the step before it. */
export function DiffTab({ runId, agent, place }: DetailProps) {
  const step = agent.outline.steps[place] ?? 0
  if (step === 0) return <p class="quiet">Nothing precedes the first step.</p>
  return <Changes runId={runId} agentId={agent.agentId} step={step} />
}

function Changes({ runId, agentId, step }: { runId: string; agentId: string; step: number }) {
  const found = useLoaded(`${agentId} ${step}`, () =>
    take(
      api.v1.runs[':id'].diff.$get({
        param: { id: runId },
        query: { a: `${agentId}:${step - 1}`, b: `${agentId}:${step}` },
      }),
    ),
  )
  return (
    <>
      <h2>
        From step {step - 1} to step {step}
      </h2>
      <Loaded of={found}>
        {({ state, messages, files }) => (
          <>
            <h3>State</h3>
            {state.length === 0 && <p class="quiet">no difference</p>}
            {state.map(({ path, a, b }) => (
              <div key={path} class="difference">
                <code>{shown(path)}</code>
                {a !== undefined && (
                  <div class="removed">
                    <JsonView value={a} open={false} />
                  </div>
                )}
                {b !== undefined && (
                  <div class="added">
                    <JsonView value={b} open={false} />
                  </div>
                )}
              </div>
            ))}
            <h3>New messages</h3>
            {messages.onlyB.length === 0 ? <p class="quiet">none</p> : <JsonView value={messages.onlyB} open={false} />}
            <h3>Files</h3>
            {files === null || files.patch === '' ? (
              <p class="quiet">no difference</p>
            ) : (
              <PatchView patch={files.patch} />
            )}
          </>
        )}
      </Loaded>
    </>
  )
}
