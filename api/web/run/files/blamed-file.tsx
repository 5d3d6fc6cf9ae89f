import { useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import type { FileBlame } from '../../../operations/files/schemas.ts'
import { api } from '../../client/api.ts'
import { jump, setQuery } from '../../page/router.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'

/** The most parts shown at first. */
const MOST = 200

interface At {
  readonly runId: string
  readonly agentId: string
  readonly step: number
  readonly path: string
}

const WHY_NOT = {
  none: 'There is no such file here.',
  binary: 'This file is no text.',
  too_large: 'This file is too large to be shown with its writers.',
} as const

/** A file at a step. Each part links to the call that wrote it. */
export function BlamedFile({ runId, agentId, step, path }: At) {
  const [most, setMost] = useState(MOST)
  const found = useLoaded(`${agentId} ${step} ${path}`, () => {
    const query: Record<'path' | 'step' | 'agent', string> = { path, step: String(step), agent: agentId }
    return take(api.v1.runs[':id'].blame.$get({ param: { id: runId }, query }))
  })
  return (
    <Loaded of={found}>
      {({ content, parts, sources, since }) => {
        if (content !== 'text') return <p class="quiet">{WHY_NOT[content]}</p>
        let line = 1
        return (
          <div class="blame">
            {parts.length === 0 && <p class="quiet">The file is empty.</p>}
            {since > 0 && <p class="quiet">What is older than step {since} was not looked at.</p>}
            {parts.slice(0, most).map(({ text, source }, i) => {
              const from = line
              line += text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
              return (
                <div key={i} class="blame-part">
                  <Writer runId={runId} source={source === null ? null : sources[source]!} />
                  <button
                    type="button"
                    class="link mono"
                    title="Where did this line come from?"
                    aria-label={`Where did line ${from} come from?`}
                    onClick={() => setQuery({ tab: 'trace', line: String(from) })}
                  >
                    {from}
                  </button>
                  <pre>
                    <Foreign text={text} />
                  </pre>
                </div>
              )
            })}
            {parts.length > most && (
              <button type="button" class="link" onClick={() => setMost(most * 5)}>
                {parts.length - most} more parts
              </button>
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

type Source = FileBlame['sources'][number]

function Writer({ runId, source }: { runId: string; source: Source | null }) {
  if (source === null) return <span class="quiet">older</span>
  if (source.calls.length === 0) return <span class="quiet">{source.step === 0 ? 'before the run' : 'by no call'}</span>
  return (
    <span>
      {source.calls.map(({ agentId, revision, toolCallId, toolName }) => (
        <button
          key={toolCallId}
          type="button"
          class="link"
          title={`Who wrote this? Step ${source.step}, ${toolCallId}`}
          aria-label={`Who wrote this? ${shown(toolName)} #${revision}`}
          onClick={() => jump({ agent: agentId === runId ? null : agentId, at: String(revision), tab: null })}
        >
          <bdi>{shown(toolName)}</bdi> #{revision}
        </button>
      ))}
    </span>
  )
}
