import { afterAll, describe, expect, test } from 'vitest'
import { openEventStoreLog } from '../../adapters/eventstore/open.ts'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { agentVersions } from '../../domain/agent/events/events.ts'
import { upcasters } from '../../domain/agent/events/upcasters.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { StandIn } from '../support/eventstore/stand-in.ts'
import { SAMPLED, sampleOf } from '../support/faults/seed.ts'
import { tempFolder } from '../support/folders.ts'
import { digests, kept, newestOf, type Recorded, recorded, recording, rowsKnownTo } from '../support/golden/files.ts'
import { HISTORIES } from '../support/golden/histories.ts'
import { appendAgain } from '../support/golden/recording.ts'
import { alike, projectedInto, rowsOf } from '../support/golden/rows.ts'
import { MEANINGS, toldOf } from '../support/golden/told.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { BEFORE } from '../support/log/sealing.ts'
import { describeWithSharedPostgres } from '../support/postgres/postgres.ts'
import { comparedCheckpoints, rowsOfView } from '../support/projections/checkpoint-view.ts'
import { postgresKit } from '../support/projections/postgres-kit.ts'

// Law 7: what was recorded once folds to its digests on every adapter, is put together to the same requests, and fills the
// same tables; or to a named change (FOLD, ASSEMBLER, ROW_MEANING).

const all = recorded()
const named = all.map((one) => [`${one.name}.${one.number}`, one] as const)

const RECORDED_OTHERWISE =
  'this program writes other histories, or makes something else of them: if that is meant, raise what names the change ' +
  '(a version and its upcaster, FOLD, ASSEMBLER, ROW_MEANING), and run node test/support/record-golden.ts'

test('nothing that was recorded was changed or taken away', () => {
  expect(digests()).toEqual(kept())
})

describe('told again', () => {
  test.each(Object.entries(HISTORIES))('%s is the same to the byte', async (name, tell) => {
    const last = newestOf(all, name)
    const { text, told } = await recording(await tell(), tempFolder())
    expect(text, RECORDED_OTHERWISE).toBe(last?.text)
    expect(last && { ...told, rows: rowsKnownTo(last.told, told.rows) }, RECORDED_OTHERWISE).toEqual(last?.told)
  })
})

const server = await new StandIn().start()
afterAll(() => server.stop())
let logs = 0

const ADAPTERS: readonly { name: string; erases: boolean; open(): Promise<EventLog> }[] = [
  { name: 'memory', erases: true, open: async () => new MemoryLog({ clock: BEFORE }) },
  { name: 'SQLite', erases: true, open: () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE }) },
  {
    name: 'EventStoreDB',
    erases: false,
    open: () => openEventStoreLog({ connectionString: server.url, namespace: `g${logs++}`, clock: BEFORE }),
  },
]

/** The recorded answers, where this program still has the versions of then. */
function comparable(told: Recorded['told'], { agents, rows }: Pick<Recorded['told'], 'agents' | 'rows'>) {
  const { versions } = told
  const folded = versions.fold === MEANINGS.fold
  const assembled = versions.assembler === MEANINGS.assembler
  return {
    agents: Object.entries(agents).map(([id, { proof, machine, digests, requests, messages }]) => ({
      id,
      problems: proof.problems,
      ...(folded && { proof, machine, digests }),
      ...(assembled && { requests, messages }),
    })),
    ...(versions.meaning === MEANINGS.meaning && { rows: rowsKnownTo(told, rows) }),
  }
}

const newest = named.filter(([, one]) => one === newestOf(all, one.name))

// Every adapter gives back the bytes that it took (their contract kits): memory replays all that was ever recorded. The
// others replay the newest recordings: some in each run of the tests, and all in a campaign.
const SOME = 2
const hasErasure = ([, one]: (typeof named)[number]) => one.name === 'erased'

const replaying = ADAPTERS.map((one) => ({ ...one, which: one.name === 'memory' ? 'all' : SAMPLED }))

describe.each(replaying)('replayed on $name ($which)', ({ name, open, erases }) => {
  test.each(name === 'memory' ? named : sampleOf(newest, SOME, hasErasure))(
    '%s is proved, and is what was told',
    async (_, { text, told }) => {
      const [log, blobs] = [await open(), new MemoryBlobs()]
      try {
        if (!erases && text.includes('"type":"erased"')) {
          await expect(appendAgain(text, log, blobs)).rejects.toMatchObject({ code: 'ERASE_IMPOSSIBLE' })
          return
        }
        await appendAgain(text, log, blobs)
        const made = { agents: await toldOf({ log, blobs }), rows: await rowsOf(log, blobs, tempFolder()) }
        const plain = JSON.parse(JSON.stringify(made)) as typeof told
        expect(comparable(told, plain)).toEqual(comparable(told, told))
        // The digests of earlier folds are compared too.
        for (const [id, { proof }] of Object.entries(plain.agents))
          expect(proof).toMatchObject({ ok: true, digests: told.agents[id]!.proof.digests })
      } finally {
        await log.close()
      }
    },
  )
})

describeWithSharedPostgres('tables in PostgreSQL', (postgres) => {
  const kit = postgresKit(postgres)
  const filled = async ({ text }: Recorded) => {
    const [log, blobs] = [new MemoryLog({ clock: BEFORE }), new MemoryBlobs()]
    await appendAgain(text, log, blobs)
    const tables = await kit.fresh()
    await projectedInto(log, blobs, await tables.open())
    return { tables, log, blobs }
  }
  const same = named.filter(([, { told }]) => told.versions.meaning === MEANINGS.meaning)
  test.each(sampleOf(same, SOME, hasErasure))(`hold the rows of %s (${SAMPLED})`, async (_, one) => {
    const { tables, log } = await filled(one)
    expect(rowsKnownTo(one.told, await alike(await tables.dump(), log))).toEqual(one.told.rows)
  })

  // Made-up stories hold the same in test/projections/postgres/views.
  test.each(sampleOf(newest, SOME, hasErasure))(
    `show the checkpoints of %s in SQL as they are read (${SAMPLED})`,
    async (_, one) => {
      const { tables, ...sources } = await filled(one)
      const { rows } = await comparedCheckpoints(tables, sources)
      expect(rows).toBe((await tables.dump()).checkpoint_rows!.length)
    },
  )
})

describeWithSharedPostgres('a version that is new to PostgreSQL', (postgres) => {
  const kit = postgresKit(postgres)

  test('makes the tables anew, and what was recorded before it is shown in its shape', async () => {
    const old = await kit.fresh()
    await withNewVersions(async () => {
      await expect(old.open()).rejects.toMatchObject({ code: 'SCHEMA_OTHER' })
      const fresh = postgresKit(postgres)
      // Histories that hold both raised types, with and without a fork.
      for (const { text } of ['coder', 'people', 'forks'].map((name) => newestOf(all, name)!)) {
        const [log, blobs] = [new MemoryLog({ clock: BEFORE }), new MemoryBlobs()]
        await appendAgain(text, log, blobs)
        const tables = await fresh.fresh()
        await projectedInto(log, blobs, await tables.open())
        await comparedCheckpoints(tables, { log, blobs })
        if (text.includes('"type":"user_input"'))
          expect(JSON.stringify(await rowsOfView(tables, 'checkpoints'))).toContain('(brought up)')
      }
    })
  })
})

/** As in a program that has raised the versions of two types. */
async function withNewVersions(work: () => Promise<void>): Promise<void> {
  const up = (key: string) => ({ 1: (body: unknown) => broughtUp(body as Record<string, unknown>, key) })
  const raised = { user_input: 2, tool_call_end: 2 }
  try {
    Object.assign(agentVersions, raised)
    Object.assign(upcasters, { user_input: up('text'), tool_call_end: up('result') })
    await work()
  } finally {
    for (const type of Object.keys(raised)) {
      Object.assign(agentVersions, { [type]: 1 })
      delete (upcasters as Record<string, unknown>)[type]
    }
  }
}

const broughtUp = (body: Record<string, unknown>, key: string) =>
  typeof body[key] === 'string' ? { ...body, [key]: `${body[key]} (brought up)` } : body
