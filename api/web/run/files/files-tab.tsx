import { take } from '../../../http/answers.ts'
import { api } from '../../client/api.ts'
import { query, setQuery } from '../../page/router.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import type { DetailProps } from '../detail/detail-props.ts'
import { BlamedFile } from './blamed-file.tsx'

const SIGNS = { added: '+', modified: '±', deleted: '-' } as const

/** The files that the run has changed up to the position, and one file's lines with their authors. */
export function FilesTab({ runId, agent, place }: DetailProps) {
  const step = agent.outline.steps[place] ?? 0
  const path = query.value.get('file')
  const { agentId } = agent
  return (
    <>
      <h2>Files after step {step}</h2>
      <form
        class="pair"
        onSubmit={(event) => {
          event.preventDefault()
          setQuery({ file: String(new FormData(event.currentTarget).get('file')) })
        }}
      >
        <input key={path} class="mono" name="file" aria-label="File" defaultValue={path ?? ''} placeholder="any file" />
        <button type="submit">Show</button>
        {path !== null && (
          <button type="button" onClick={() => setQuery({ file: null })}>
            Close
          </button>
        )}
      </form>
      {path === null ? (
        <Changed key={`${agentId}.${step}`} runId={runId} agentId={agentId} step={step} />
      ) : (
        <BlamedFile key={`${agentId}.${step}.${path}`} runId={runId} agentId={agentId} step={step} path={path} />
      )}
    </>
  )
}

function Changed({ runId, agentId, step }: { runId: string; agentId: string; step: number }) {
  const found = useLoaded(`${agentId} ${step}`, () =>
    take(
      api.v1.runs[':id'].diff.$get({
        param: { id: runId },
        query: { a: `${agentId}:0`, b: `${agentId}:${step}`, only: 'files' },
      }),
    ),
  )
  return (
    <Loaded of={found}>
      {({ files }) => {
        if (files === null) return <p class="quiet">No version of the files is kept here.</p>
        if (files.changes.length === 0)
          return (
            <p class="quiet">
              The run had changed no file here. A run that has a folder and writes in it shows each change.
            </p>
          )
        return (
          <ul class="files">
            {files.changes.map(({ path, change }) => (
              <li key={path}>
                <span class="mono" aria-hidden="true">
                  {SIGNS[change]}
                </span>{' '}
                {change === 'deleted' ? (
                  <bdi class="mono">{shown(path)}</bdi>
                ) : (
                  <button type="button" class="link mono" onClick={() => setQuery({ file: path })}>
                    <bdi>{shown(path)}</bdi>
                  </button>
                )}{' '}
                <span class="quiet">{change}</span>
              </li>
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}
