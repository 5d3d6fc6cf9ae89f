import { useState } from 'preact/hooks'
import { api, take } from '../../client/api.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { PatchView } from '../../parts/patch-view.tsx'
import { shown } from '../../parts/shown.ts'
import type { Brief } from '../state-cache.ts'

interface Then {
  readonly runId: string
  readonly agentId: string
  readonly state: Brief
}

/** What the files were at a position beside those that the run began with, on demand: comparing reads both. */
export function FilesThen({ runId, agentId, state }: Then) {
  const [asked, setAsked] = useState(false)
  return (
    <>
      <h3>Files</h3>
      {state.tree === null ? (
        <p class="quiet">no version of them is kept here</p>
      ) : asked ? (
        <Changes runId={runId} agentId={agentId} step={state.step} />
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          Show what the run had changed by step {state.step}
        </button>
      )}
    </>
  )
}

function Changes({ runId, agentId, step }: { runId: string; agentId: string; step: number }) {
  const found = useLoaded(`${agentId} ${step}`, () =>
    take(api.v1.runs[':id'].diff.$get({ param: { id: runId }, query: { a: `${agentId}:0`, b: `${agentId}:${step}` } })),
  )
  return (
    <Loaded of={found}>
      {({ files }) =>
        files === null || files.changes.length === 0 ? (
          <p class="quiet">nothing had changed</p>
        ) : (
          <>
            <ul class="files">
              {files.changes.map(({ path, change }) => (
                <li key={path}>
                  {change} <bdi class="mono">{shown(path)}</bdi>
                </li>
              ))}
            </ul>
            <PatchView patch={files.patch} />
          </>
        )
      }
    </Loaded>
  )
}
