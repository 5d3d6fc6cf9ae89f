import { afterAll, describe, expect, it } from 'vitest'
import { ALTERED } from '../../../api/cli/output/event-row.ts'
import { hasWhole, transcriptLines } from '../../../api/cli/output/transcript-text.ts'
import { flowWhole } from '../../../api/cli/output/whole-result.ts'
import type { EventView } from '../../../api/operations/events/schemas.ts'
import { cliFolder, idIn } from '../support/cli.ts'

describe('a transcript', { timeout: 60_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())

  it('holds the prompt, every message, every call with its result, and who approved it, turn by turn', {
    tags: ['git'],
  }, async () => {
    const run = await folder.look('run', 'write it\nplease', '-w', folder.workspace(), '--tools', 'write_file')
    const id = idIn(run.err)
    await folder.look('approve', `${id}.t1.c0`, '--by', 'bob', '--reason', 'looks right')
    await folder.look('resume', id)
    const { code, out } = await folder.look('transcript', id)
    expect(code).toBe(0)
    const order = [
      /^@\d+ \S+Z \S+: input:\n {4}write it\n {4}please$/m,
      new RegExp(`^== turn 1 of ${id} ==$`, 'm'),
      /^system prompt of \w+:\n {4}You are a capable agent/m,
      /assistant \(test-script, \d+ tokens in, \d+ out, \$0\.0000, tool_use\):$/m,
      new RegExp(`call ${id}.t1.c0 write_file:
 {4}{
 {6}"content": "hello`),
      new RegExp(`approval of ${id}.t1.c0 write_file is asked for: .* \\(until \\S+Z\\)$`, 'm'),
      new RegExp(`bob: ${id}.t1.c0 is approved: looks right$`, 'm'),
      new RegExp(`result of ${id}.t1.c0 write_file: done, attempt 1, \\d+ ms$`, 'm'),
      new RegExp(`^== turn 2 of ${id} ==$`, 'm'),
      /completed:\n {4}write approved$/m,
    ]
    let from = 0
    for (const part of order) {
      const at = out.slice(from).search(part)
      expect([String(part), at >= 0]).toEqual([String(part), true])
      from += at
    }
    const json = JSON.parse((await folder.look('-o', 'json', 'transcript', id, '--agent', id)).out) as EventView[]
    expect(json.filter((part) => 'system' in part)).toHaveLength(1)
    expect(json.find(({ type }) => type === 'tool_call_start')?.payload).toMatchObject({
      arguments: { path: 'hello.txt' },
    })
  })

  it('cuts nothing, and is safe on a terminal', () => {
    const result = `${'x'.repeat(100_000)}\n\u001b[2J\u202eend`
    const event = {
      type: 'tool_call_end',
      revision: 7,
      turn: 1,
      timestamp: '2026-11-01T00:00:00.000Z',
      stream: 'agent-a',
      agentId: 'a',
      toolCallId: 'a.t1.c0',
      actor: { kind: 'driver', id: 'd' },
      payload: { toolName: 'read\nfile', success: true, attempt: 1, durationMs: 3, result },
    } as unknown as EventView
    expect(transcriptLines(event)).toEqual([
      '@7 2026-11-01T00:00:00.000Z result of a.t1.c0 read file: done, attempt 1, 3 ms',
      `    ${'x'.repeat(100_000)}`,
      '    ␛[2J<202e>end',
    ])
    expect(transcriptLines({ ...event, payload: null })).toEqual(['@7 2026-11-01T00:00:00.000Z tool_call_end (erased)'])
    const secrets = [{ name: 'KEY', reference: 'secret:ku_0' }]
    const payload = { toolName: 'f', arguments: {}, secrets }
    const start = { ...event, type: 'tool_call_start', payload } as EventView
    expect(transcriptLines(start).at(-1)).toBe('  secret KEY (secret:ku_0)')
  })

  it('loads a whole result of which the event holds a part, and says where it was erased or altered', async () => {
    const payload = { toolName: 'f', success: true, attempt: 1, durationMs: 3, result: 'cut', attachment: { size: 9 } }
    const end = { type: 'tool_call_end', toolCallId: 'a.t1.c0', actor: { kind: 'driver' }, payload } as never
    expect(hasWhole(end)).toBe(true)
    expect(transcriptLines(end)).toHaveLength(1)
    const told = async (answer: Response) => {
      const out: string[] = []
      const fetch = async (request: Request) => {
        expect(new URL(request.url).pathname).toBe('/v1/results/a.t1.c0')
        return answer
      }
      const ctx = { backend: async () => ({ fetch }), flow: async (text: string) => void out.push(text) }
      return [await flowWhole(ctx as never, 'a.t1.c0'), out.join('')]
    }
    expect(await told(new Response('one\r\ntwo\u001b[2J'))).toEqual([false, '    one\n    two␛[2J\n'])
    const refused = (status: number, code: string) => Response.json({ code, status, detail: 'x' }, { status })
    expect(await told(refused(410, 'BODY_ERASED'))).toEqual([false, '    (erased)\n'])
    expect(await told(refused(500, 'LOG_CORRUPT'))).toEqual([true, `    ${ALTERED}\n`])
    expect(await told(refused(500, 'BLOB_MISSING'))).toEqual([true, expect.stringContaining('missing')])
    await expect(told(refused(403, 'FORBIDDEN'))).rejects.toThrow('x')
  })
})
