import { describe, expect, test } from 'vitest'
import { doubtHash } from '../../domain/agent/rules/doubt-question.ts'
import { callsOf } from '../../domain/agent/state/state.ts'
import { ToolError } from '../../domain/calls/errors.ts'
import type { SeenFile } from '../../domain/calls/question-hash.ts'
import { approvalHash, storedFile } from '../../domain/calls/question-hash.ts'
import { saltedHash, sha256 } from '../../domain/log/ids.ts'
import type { Workspace } from '../../domain/ports/index.ts'
import { call, calls, completes } from '../support/harness.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { given, tool } from '../support/story.ts'

// An answer belongs to the question that a person read.

const CHANGED = { code: 'QUESTION_CHANGED' }

/** A run whose agent asks to write `notes.txt` each turn; the file is in memory. */
async function asking(turns = 1) {
  let file: string | null = 'as it was'
  const read = async () => {
    if (file === null) throw new ToolError('RESOURCE_NOT_FOUND', 'there is no such file')
    return Buffer.from(file)
  }
  const workspace = { path: '/w', resolve: async (path: string) => path, read, versions: {} } as unknown as Workspace
  const close = async () => undefined
  const write = tool(
    'write_file',
    { effect: 'reconcilable' },
    () => 'written',
    async () => ({ found: 'absent' }),
  )
  const run = await given({
    says: [...Array(turns).fill(calls(call('write_file', { path: 'notes.txt' }))), completes()],
    tools: [write],
    ports: { environment: async () => ({ workspace, sandbox: null, secrets: NO_SECRETS, reap: close, close }) },
  })
  const put = (text: string | null) => {
    file = text
  }
  const seen = (text: string): SeenFile => ({ path: 'notes.txt', content: sha256(text) })
  const hashOf = async (turn: number, files: readonly SeenFile[] = []) => {
    const open = callsOf(await run.state()).find(({ id }) => id === run.call(turn))!
    return approvalHash(open, open.stage.at === 'approval' ? open.stage.expiresAt : Number.NaN, files)
  }
  const answer = async (files: SeenFile[], questionHash?: string, decision: 'approved' | 'rejected' = 'approved') =>
    run.say({
      ...{ kind: 'decide_approval', toolCallId: run.call(1), decision, files },
      questionHash: questionHash ?? (await hashOf(1, files)),
    })
  expect(await run.drive()).toMatchObject({ for: 'approval' })
  return { ...run, write, put, seen, hashOf, answer }
}

describe('an answer to an approval', () => {
  test('is refused where it names another question, and recorded with the one that it names', async () => {
    const run = await asking(2)
    const files = [run.seen('as it was')]
    const hash = await run.hashOf(1, files)
    await expect(run.answer(files, 'f'.repeat(64))).rejects.toMatchObject(CHANGED)
    await expect(run.answer([run.seen('other')], hash)).rejects.toMatchObject(CHANGED)
    await expect(run.answer([], hash, 'rejected')).rejects.toMatchObject(CHANGED)
    await run.answer(files, hash)
    const [decided] = await run.of('approval_decided')
    const { hashSalt } = (await run.runtime.at(run.runId, null)).state
    expect(decided!.body).toMatchObject({
      decided: { method: 'person', shownHash: saltedHash(hashSalt, hash), policyHash: expect.any(String) },
      files: files.map((file) => storedFile(hashSalt, file)),
    })
    expect(await run.drive()).toMatchObject({ for: 'approval', toolCallIds: [run.call(2)] })
    const stale = { kind: 'decide_approval', toolCallId: run.call(2), decision: 'approved', files } as const
    await expect(run.say({ ...stale, questionHash: hash })).rejects.toMatchObject(CHANGED)
  })

  test.each([
    ['changed', 'other'],
    ['removed', null],
  ])('a file that was %s after the approval: nothing is done, and the person is asked again', async (how, now) => {
    const run = await asking()
    const before = await run.hashOf(1, [run.seen('as it was')])
    await run.answer([run.seen('as it was')])
    run.put(now)
    run.clock.time += 1_000
    expect(await run.drive()).toEqual({ end: 'waiting', for: 'approval', toolCallIds: [run.call(1)] })
    expect(run.write.ran).toEqual([])
    const reason = `the approval is void: "notes.txt" was ${how} after the approval`
    expect((await run.of('approval_requested')).at(-1)!.body.reason).toBe(reason)
    expect((await run.of('approval_voided'))[0]!.body).not.toHaveProperty('tool')
    await expect(run.answer([run.seen('as it was')], before)).rejects.toMatchObject(CHANGED)
    await run.answer(now === null ? [{ path: 'notes.txt', content: 'absent' }] : [run.seen(now)])
    expect(await run.drive()).toEqual({ end: 'done' })
    expect([run.write.ran.length, (await run.state()).violations]).toEqual([1, 0])
  })

  test('a change counts no more once a standing approval covers the tool', async () => {
    const run = await asking()
    await run.answer([run.seen('as it was')])
    await run.say({ kind: 'standing_approval', tools: ['write_file'] })
    run.put('other')
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['write_file: ok', 'complete_task: ok'])
  })

  test('a file that changes each time ends the call after five questions', async () => {
    const run = await asking()
    let asked = 0
    for (let end: { end: string } = { end: 'waiting' }; end.end === 'waiting'; end = await run.drive()) {
      run.put(`version ${asked}`)
      await run.answer([run.seen(`version ${asked}`)])
      run.put(`version ${++asked} at work`)
    }
    expect([asked, await run.ends()]).toEqual([6, ['write_file: CONFLICT', 'complete_task: ok']])
  })
})

test('an answer to a question of the agent is refused where the agent asks another one, or has its answer', async () => {
  const ask = (question: string) => calls(call('ask_user', { question }))
  const run = await given({ says: [ask('Keep the files?'), ask('Delete them?'), completes()] })
  const answer = (turn: number) => run.say({ kind: 'input', text: 'yes', toolCallId: run.call(turn) })
  expect(await run.drive()).toMatchObject({ for: 'input' })
  await expect(answer(2)).rejects.toMatchObject(CHANGED)
  await answer(1)
  await expect(answer(1)).rejects.toMatchObject(CHANGED)
  expect(await run.drive()).toMatchObject({ for: 'input' })
  await expect(answer(1)).rejects.toMatchObject(CHANGED)
  await answer(2)
  expect(await run.drive()).toEqual({ end: 'done' })
})

test('a decision on an unknown outcome is refused where it names another question', async () => {
  const dies = new Error('it died')
  let deaths = 2
  const crashPoint = (name: string) => (name === 'after_tool' && deaths-- > 0 ? Promise.reject(dies) : undefined)
  const send = tool('send', { effect: 'irreversible' })
  const run = await given({ says: [calls(call('send')), completes()], tools: [send], ports: { crashPoint } })
  const signal = new AbortController().signal
  await expect(run.drive()).rejects.toBe(dies)
  expect(await run.elsewhere().drive(run.runId, { signal })).toMatchObject({ for: 'doubt' })
  const toolCallId = run.call(1)
  const hash = doubtHash(await run.state(), toolCallId)!
  const decide = { kind: 'resolve_doubt', toolCallId, decision: 'run' } as const
  await expect(run.say({ ...decide, questionHash: 'f'.repeat(64) })).rejects.toMatchObject(CHANGED)
  await run.say({ ...decide, questionHash: hash })
  await expect(run.elsewhere().drive(run.runId, { signal })).rejects.toBe(dies)
  expect(await run.elsewhere().drive(run.runId, { signal })).toMatchObject({ for: 'doubt' })
  const stale = run.say({ ...decide, decision: 'happened', questionHash: hash })
  await expect(stale).rejects.toMatchObject(CHANGED)
})
