import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type KeepUp, type KeepUpOptions, openKeepUp } from '../../../api/index.ts'
import { Puppet } from '../external/in-process.ts'

// A data folder with a stream of every kind, written by the library with its real adapters.

const turn = (tool: string, args: Record<string, string | number>) => ({ calls: [{ tool, arguments: args }] })
const DONE = turn('complete_task', { summary: 'all done' })

/** Over 64 KiB, so that the log keeps it as a blob. */
const LONG = 'a long answer '.repeat(6_000)

const SCRIPTS = {
  saves: {
    script: 1,
    turns: [
      turn('remember', { text: 'Ann lives at 4 Elm Street', scope: 'global' }),
      turn('remember', { text: 'The port of the server is 8080' }),
      turn('set_context', { key: 'goal', value: 'a quiet evening with Ann' }),
      DONE,
    ],
  },
  long: { script: 1, turns: [{ ...turn('set_context', { key: 'n', value: 1 }), text: LONG }, DONE] },
} satisfies KeepUpOptions['scripts']

export interface Told {
  readonly data: string
  /** The folder of the anchor, which lies outside the data folder. */
  readonly anchor: string
  readonly runs: readonly string[]
  readonly documentId: string
  readonly memoryId: string
  readonly external: string
}

/** Opens a data folder with scripted models and an external agent. */
export async function opened(
  data: string,
  scripts: KeepUpOptions['scripts'] = {},
): Promise<{ keepup: KeepUp; puppet: Puppet }> {
  const puppet = new Puppet()
  const keepup = await openKeepUp({ data, by: 'ada', scripts, agents: [puppet.backend] })
  return { keepup, puppet }
}

/** Writes the folder `data` below `root`, signs its heads several times and leaves two of them with an anchor. */
export async function tell(root: string): Promise<Told> {
  const [data, anchor] = [join(root, 'data'), join(root, 'anchor')]
  mkdirSync(anchor, { recursive: true })
  const { keepup, puppet } = await opened(data, SCRIPTS)
  const run = async (task: string, model: string) => {
    const { runId } = await keepup.start({ task, model: `scripted:${model}` })
    await keepup.drive(runId)
    return runId
  }
  const first = await run('Write to Ann about the harvest', 'saves')
  await keepup.addAnchor({ anchor: 'disk', kind: 'folder', target: anchor })
  await keepup.anchorNow()
  const store = keepup.contextStore('review')
  for (const value of ['one', 'the harvest of Ann', 'three']) await store.set('goal', value)
  const { documentId } = await keepup.createDocument({
    title: 'Plan',
    format: 'markdown',
    content: 'Ann has the key of the cellar',
  })
  const { frontier, blocks } = await keepup.documents.read(documentId)
  const { id, hash } = blocks[0]!
  await keepup.documents.send(documentId, {
    doc_frontier: frontier,
    client_request_id: 'r1',
    ops_xml: `<replace_spans><span span_id="${id}">Bob has the key of the attic</span></replace_spans>`,
    preconditions: [{ span_id: id!, if_match_context_hash: hash! }],
  })
  await keepup.rotateLogKey()
  const second = await run('Answer at length', 'long')
  const handle = await keepup.runAgent('fake', { prompt: 'Read the diary of Ann' })
  await puppet.text('The diary says', 'that it rained')
  puppet.exit()
  await handle.completion
  const { runId: fork } = await keepup.fork(first, { at: { step: 2 } })
  await keepup.drive(fork)
  await keepup.getProofHead()
  const third = await run('Write to Ann about the winter', 'saves')
  await keepup.eraseRun({ id: third, all: true, code: 'subject_request', reason: 'asked for' })
  await keepup.anchorNow()
  const [memory] = await Array.fromAsync(keepup.rows('listMemories', {}))
  await store.set('goal', 'four')
  await run('Write to Ann about the spring', 'saves')
  await keepup.anchorNow()
  await keepup.close()
  return {
    ...{ data, anchor, documentId, memoryId: memory!.id, external: handle.agentId },
    runs: [first, second, fork, third],
  }
}
