import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TASK } from '../../../api/demo/project.ts'
import { type Served, serve } from '../../support/browser/served.ts'
import { editingAgent, runEditingAgent } from '../../support/external/editing-agent.ts'
import { CRASHING } from '../../support/programs/program.ts'
import { SCRIPTS } from './scripts.ts'

// A data folder as a small team has it after a week: the runs of the pictures, and of the tasks that people do on the page.

const PROJECT = join(import.meta.dirname, '../../../api/demo/project')
const DAY = 86_400_000
const [SONNET, HAIKU, LUNA] = ['claude-sonnet-4-5', 'claude-haiku-4-5', 'gpt-5.6-luna'] as const
const price = (input: string, output: string, cacheRead: string) => ({
  price: { asOf: '2026-11-01', input, output, cacheRead },
})
const MODELS = [
  { id: SONNET, provider: 'scripted', ...price('3', '15', '0.30') },
  { id: HAIKU, provider: 'scripted', ...price('1', '5', '0.10') },
  { id: LUNA, provider: 'scripted', ...price('0.40', '1.60', '0.04') },
]

const ASKS = ['Write the changelog of 2.4.0', SONNET] as const
const PUBLISHES = ['Publish 2.4.0 to the registry', HAIKU] as const
const WATCHES = 'Watch the checkout during the release'
const SUMMARIZES = 'Summarize the tickets of the week'
const FOR_EVER = { maxTurns: 10_000 }

/** The runs and documents of the story, by what a person does with them. */
export interface Story {
  readonly served: Served
  readonly runs: Readonly<
    Record<'done' | 'fork' | 'failed' | 'asks' | 'publishes' | 'doubt' | 'family' | 'held' | 'external', string>
  >
  readonly document: string
  /** An exported run. */
  readonly file: string
  /** Starts one more run: one that asks to write a file, asks to run a command, writes lines, or works for ever. */
  another(kind: 'asks' | 'publishes' | 'live' | 'paced'): Promise<string>
  close(): Promise<void>
}

/** Makes time pass: the wall clock of this process is `days` behind, and each look at it takes some ms. */
function pastDays() {
  const real = Date.now
  let [behind, looks] = [0, 0]
  return {
    go(days: number) {
      ;[behind, looks] = [days * DAY, 0]
      Date.now = () => Math.floor(real.call(Date) - behind + 40 * looks++)
    },
    end() {
      Date.now = real
    },
  }
}

/** Plays the story in a folder of its own. */
export async function playStory(): Promise<Story> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-story-')))
  const data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  let made = 0
  const till = () => {
    const folder = join(root, `till-${++made}`)
    cpSync(PROJECT, folder, { recursive: true })
    writeFileSync(
      join(folder, 'CHANGELOG.md'),
      '# Changelog\n\n## 2.3.1\n\n- The till prints the name of the shop again.\n',
    )
    return folder
  }
  const endless: string[] = []
  const clock = pastDays()
  clock.go(6)
  try {
    const open = () =>
      serve({
        data,
        agents: [editingAgent],
        scripts: SCRIPTS,
        settings: { models: MODELS, delegation: { maxDepth: 3, agents: 25 } },
      })
    let served = await open()
    const work = (task: string, model: string, more: object = {}) => ({
      ...{
        task,
        more: { model, workspace: till(), tools: undefined, policy: { sandboxed: false }, limits: {}, ...more },
      },
    })
    const drive = ({ task, more }: ReturnType<typeof work>) => served.driven(task, more)
    const coder = { role: 'coder', approve: ['write_file', 'run_command'] }
    const free = { approve: ['run_command', 'write_file'] }
    const luna = { approve: ['write_file'], contextVariables: { language: 'de' } }
    await drive(work('Translate the README for the shops in Austria', LUNA, luna))
    await drive(work('Run lint on the till and say what is wrong', HAIKU, free))
    clock.go(5)
    await drive(work(TASK, SONNET, { ...coder, limits: { maxTurns: 40 } }))
    clock.go(3)
    for (const shop of ['Bern', 'Zürich']) await drive(work(`Translate the README for the shop in ${shop}`, LUNA, luna))
    clock.go(2)
    await drive(work('Run lint on the till after the upgrade', HAIKU, free))
    const family = await drive(
      work('Review the till before the release', SONNET, {
        role: 'architect',
        policy: { mode: 'batch', sandboxed: false },
      }),
    )
    clock.go(1)
    const budget = { tokens: 400_000 }
    const done = await drive(
      work(TASK, SONNET, { ...coder, budget, contextVariables: { release: '2.4.0', reviewer: 'ada' } }),
    )
    const fork = await forkOf(served, done)
    clock.go(0.1)
    const failed = await drive(work('The invoice total is wrong by a cent: find out why and mend it', SONNET, free))
    const held = await drive(work('Translate the terms of the refund', LUNA, luna))
    await served.ask('POST', '/v1/holds', { of: held, reason: 'the audit of 2026', by: 'ada' })
    await served.ask('PUT', '/v1/retention', { of: 'run', days: 180, by: 'ada' })
    clock.go(0.01)
    const asks = await drive(work(...ASKS))
    const publishes = await drive(work(...PUBLISHES))
    const content =
      '# Release 2.4.0\n\nFirst **measure**, then change one thing.\n\n| step | who |\n|---|---|\n| measure | ada |\n| announce | bob |\n'
    const paper = { title: 'Plan for the release', format: 'markdown', content, by: 'ada' }
    const { documentId } = await served.ask<{ documentId: string }>('POST', '/v1/documents', paper)
    clock.end()
    await served.close({ keep: true })
    const doubt = crash(root, data, till())
    served = await open()
    await served.ask('POST', `/v1/runs/${doubt}/resume`, { by: 'ada' })
    await served.backend.services.drivers.ended(doubt)
    const external = await runEditingAgent(served, 'Replace the old rounding in both files')
    await served.ask('POST', `/v1/runs/${held}/tags`, { tag: 'audit of 2026', by: 'ada' })
    await served.ask('POST', `/v1/runs/${held}/notes`, { text: 'Bob compares it with the printed terms.', by: 'ada' })
    const start: Story['another'] = async (kind) => {
      if (kind === 'asks') return drive(work(...ASKS))
      if (kind === 'publishes') return drive(work(...PUBLISHES))
      const { task, more } =
        kind === 'live' ? work(WATCHES, HAIKU, free) : work(SUMMARIZES, HAIKU, { limits: FOR_EVER })
      const run = await served.start(task, more)
      endless.push(run)
      return run
    }
    const file = join(root, 'receipt.ndjson')
    const exported = await served.backend.fetch(new Request(`http://localhost/v1/runs/${done}/export`))
    writeFileSync(file, await exported.text())
    return {
      ...{ served, document: documentId, file },
      runs: { done, fork, failed, asks, publishes, doubt, family, held, external },
      another: start,
      async close() {
        // A run that has ended refuses to be cancelled.
        for (const run of endless)
          await served.ask('POST', `/v1/runs/${run}/cancel`, { by: 'ada' }).catch(() => undefined)
        await served.close()
        rmSync(root, { recursive: true, force: true })
      },
    }
  } finally {
    clock.end()
  }
}

/** A fork of the run from before its first write, told to round in another way. */
async function forkOf(served: Served, run: string): Promise<string> {
  interface Events {
    readonly events: readonly {
      readonly type: string
      readonly revision: number
      readonly payload: { toolName?: string }
    }[]
  }
  const { events } = await served.ask<Events>('GET', `/v1/runs/${run}/events?limit=500`)
  const written = events.findIndex(
    ({ type, payload }) => type === 'tool_call_start' && payload?.toolName === 'write_file',
  )
  const before = events.slice(0, written).findLast(({ type }) => type === 'turn_end')!.revision
  const fork = await served.ask<{ runId: string }>('POST', `/v1/runs/${run}/fork`, {
    event: before,
    drive: false,
    by: 'ada',
  })
  const { runId } = fork
  await served.ask('POST', `/v1/runs/${runId}/input`, {
    text: 'Round half to even instead, as the ledger does.',
    by: 'ada',
  })
  await served.ask('POST', `/v1/runs/${runId}/resume`, { by: 'ada' })
  // A fork inherits no approval that was given beforehand.
  for (;;) {
    await served.backend.services.drivers.ended(runId)
    const { asks } = await served.ask<{ asks: { toolCallId: string }[] }>('GET', `/v1/runs/${runId}`)
    if (asks.length === 0) return runId
    for (const { toolCallId } of asks) await served.answer(toolCallId, { decision: 'approved', by: 'ada' })
  }
}

/** A run whose process died during a command: nobody knows whether the command has run. */
function crash(root: string, data: string, workspace: string): string {
  // A scripted model without a name in the program is a file.
  writeFileSync(join(root, HAIKU), JSON.stringify(SCRIPTS[HAIKU]))
  const config = join(root, 'keepup.json')
  writeFileSync(config, JSON.stringify({ models: MODELS }))
  const task = 'Move the orders of November to the archive'
  const flags = ['--config', config, '--data', data, '--model', HAIKU, '--by', 'ada', '--no-sandbox']
  const args = ['run', task, '-w', workspace, '--approve', 'run_command', ...flags]
  const env = { ...process.env, KEEPUP_CRASH_AT: 'after_tool:1' }
  const { stderr } = spawnSync(process.execPath, [CRASHING, ...args], { cwd: root, env, encoding: 'utf8' })
  const id = /^run (\w+)\r?$/m.exec(stderr)?.[1]
  if (id === undefined) throw new Error(`the run that crashes did not start: ${stderr}`)
  return id
}
