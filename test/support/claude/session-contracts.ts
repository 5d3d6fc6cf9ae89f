import { expect, it } from 'vitest'
import type { SessionKey, SessionStore } from '../../../api/library/claude-kit.ts'

const line = (n: number | string, more: object = {}) => ({ type: 'user', uuid: `uuid-${n}`, message: { n }, ...more })
const A: SessionKey = { projectKey: 'a', sessionId: 'one' }
const SUB = { ...A, subpath: 'subagents/agent-x' }

/** The contracts of a session store of the Claude Agent SDK, by its documentation. `open` gives an empty store. */
export function sessionContracts(open: () => Promise<SessionStore>): void {
  it('loads what was appended, in order', async () => {
    const store = await open()
    const entries = [line(1), { type: 'title', title: 'no uuid' }, line(2, { nested: { list: [1, null, 'ü'] } })]
    await store.append(A, entries)
    expect(await store.load(A)).toEqual(entries)
  })

  it('gives null for a session that was never written', async () => {
    expect(await (await open()).load(A)).toBeNull()
  })

  it('keeps the order of several appends', async () => {
    const store = await open()
    for (const n of [1, 2, 3]) await store.append(A, [line(n)])
    await Promise.all([4, 5, 6].map((n) => store.append(A, [line(n)])))
    expect((await store.load(A))!.map(({ uuid }) => uuid)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `uuid-${n}`))
  })

  it('takes an empty append as none', async () => {
    const store = await open()
    await store.append(A, [])
    expect(await store.load(A)).toBeNull()
    await store.append(A, [line(1)])
    await store.append(A, [])
    expect(await store.load(A)).toHaveLength(1)
  })

  it('stores the transcripts of subagents apart from the main one', async () => {
    const store = await open()
    await store.append(A, [line(1)])
    await store.append(SUB, [line(2)])
    expect([await store.load(A), await store.load(SUB)]).toEqual([[line(1)], [line(2)]])
  })

  it('keeps projects apart', async () => {
    const store = await open()
    const other = { ...A, projectKey: 'b' }
    await store.append(A, [line(1)])
    expect(await store.load(other)).toBeNull()
    await store.append(other, [line(2)])
    expect([await store.load(A), await store.load(other)]).toEqual([[line(1)], [line(2)]])
  })

  it('stores an entry once by its uuid, and each entry without one', async () => {
    const store = await open()
    await store.append(A, [line(1), { type: 'tag' }])
    await store.append(A, [line(1), line(2), { type: 'tag' }])
    expect(await store.load(A)).toEqual([line(1), { type: 'tag' }, line(2), { type: 'tag' }])
  })

  it('lists the sessions of a project with the time of their last entry', async () => {
    const store = await open()
    const before = Date.now()
    await store.append(A, [line(1)])
    await store.append({ ...A, sessionId: 'two' }, [line(1)])
    await store.append({ ...A, projectKey: 'b' }, [line(1)])
    const listed = await store.listSessions('a')
    expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual(['one', 'two'])
    for (const { mtime } of listed) {
      expect(Number.isInteger(mtime)).toBe(true)
      expect(mtime).toBeGreaterThanOrEqual(before)
    }
    expect(await store.listSessions('none')).toEqual([])
  })

  it('lists no transcripts of subagents as sessions', async () => {
    const store = await open()
    await store.append({ ...SUB, sessionId: 'two' }, [line(1)])
    await store.append(SUB, [line(1)])
    await store.append(A, [line(1)])
    expect((await store.listSessions('a')).map(({ sessionId }) => sessionId)).toEqual(['one'])
  })

  it('deletes a session, which can begin anew', async () => {
    const store = await open()
    await store.append(A, [line(1)])
    await store.delete(A)
    await store.delete({ ...A, sessionId: 'unknown' })
    expect([await store.load(A), await store.listSessions('a')]).toEqual([null, []])
    await store.append(A, [line(1)])
    expect([await store.load(A), (await store.listSessions('a')).length]).toEqual([[line(1)], 1])
  })

  it('deletes the transcripts of subagents with their session, and no other session', async () => {
    const store = await open()
    const other = { ...A, sessionId: 'two' }
    await store.append(A, [line(1)])
    await store.append(SUB, [line(2)])
    await store.append(other, [line(3)])
    await store.delete(A)
    expect([await store.load(SUB), await store.listSubkeys(A), await store.load(other)]).toEqual([null, [], [line(3)]])
  })

  it('deletes one transcript of a subagent alone', async () => {
    const store = await open()
    const other = { ...A, subpath: 'subagents/agent-y' }
    await store.append(A, [line(1)])
    await store.append(SUB, [line(2)])
    await store.append(other, [line(3)])
    await store.delete(SUB)
    expect([await store.load(A), await store.load(SUB), await store.load(other)]).toEqual([[line(1)], null, [line(3)]])
    await store.append(SUB, [line(2)])
    expect(await store.load(SUB)).toEqual([line(2)])
  })

  it('lists the transcripts of subagents, without the main one', async () => {
    const store = await open()
    await store.append(A, [line(1)])
    await store.append(SUB, [line(2)])
    await store.append({ ...A, subpath: 'subagents/agent-y' }, [line(3)])
    expect((await store.listSubkeys(A)).sort()).toEqual(['subagents/agent-x', 'subagents/agent-y'])
    expect(await store.listSubkeys({ ...A, sessionId: 'two' })).toEqual([])
  })
}
