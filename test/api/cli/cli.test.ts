// @module-tag git
import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFolder, entry, idIn } from '../support/cli.ts'
import { giveSign } from '../support/script.ts'

describe('runs on the command line', { timeout: 120_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    const [done, failed, waiting] = [
      await folder.run('run', 'finish the \u001b[31mtask\u001b[0m', '--no-workspace'),
      await folder.look('run', 'fail now', '--no-workspace'),
      await folder.look('-o', 'json', 'run', 'write', '-w', folder.workspace(), '--tools', 'write_file'),
    ]
    expect([done.code, failed.code, waiting.code]).toEqual([0, 3, 8])
    // Data on stdout, the rest on stderr; and no escape sequence reaches the terminal.
    expect(done.out).toBe('finish the ␛[31mtask␛[0m\n')
    expect(done.err).toContain('complete_task')
    expect(done.err).not.toContain('\u001b')
    expect(failed.err).toContain('NO_COMPLETION')
    expect(JSON.parse(waiting.out)).toMatchObject({ status: 'active', waiting: [{ for: 'approval' }] })
    Object.assign(ids, { done: idIn(done.err), failed: idIn(failed.err), waiting: idIn(waiting.err) })
  })

  it('keeps the token to its user', () => {
    expect(statSync(join(folder.data, 'token')).mode & 0o777).toBe(0o600)
  })

  it('says what to type next, and that works', async () => {
    const list = await folder.look('approvals', '-o', 'jsonl')
    expect(await folder.look('approvals')).toMatchObject({ code: 0, out: expect.stringContaining('write_file') })
    const call = JSON.parse(list.out) as { toolCallId: string }
    expect(call.toolCallId).toBe(`${ids.waiting}.t1.c0`)
    const approved = await folder.look('approve', call.toolCallId)
    expect([approved.code, approved.err.includes(`keepup resume ${ids.waiting}`)]).toEqual([0, true])
    expect(approved.err).toContain('+hello')
    const again = await folder.look('approve', call.toolCallId)
    expect([again.code, again.err.includes('APPROVAL_NOT_PENDING')]).toEqual([1, true])
    const resumed = await folder.look('resume', ids.waiting!)
    expect([resumed.code, resumed.out]).toEqual([0, 'write approved\n'])
    // Only what is new is told again.
    expect(resumed.err).not.toContain('waits for approval')
    for (const word of ['approve', 'reject']) {
      const late = await folder.look(word, call.toolCallId)
      expect(late.err).toMatch(/was already approved by \S+ \(APPROVAL_NOT_PENDING\)/)
      expect([late.code, late.err.includes('+++')]).toEqual([1, false])
    }
  })

  it('lists runs as a table with disk use, as json and as jsonl', async () => {
    const asTable = (await folder.look('runs', 'list')).out.split('\n')
    expect(asTable[0]).toMatch(/^RUN +STATUS +ROLE +AGENT +TURN +COST +DISK +UPDATED +TASK$/)
    expect(asTable.find((l) => l.startsWith(ids.done!))).toMatch(/ \d+\.\d KiB /)
    const json = JSON.parse((await folder.look('-o', 'json', 'runs')).out) as { runId: string }[]
    const jsonl = (await folder.look('runs', '-o', 'jsonl')).out
      .trim()
      .split('\n')
      .map((l) => JSON.parse(l) as { runId: string })
    expect(jsonl.map((r) => r.runId)).toEqual(json.map((r) => r.runId))
    expect(json.map((r) => r.runId)).toEqual([ids.waiting, ids.failed, ids.done])
  })

  it('takes a shortened run id where it is unique', async () => {
    const short = ids.done!.slice(0, -3)
    expect(JSON.parse((await folder.look('-o', 'json', 'runs', 'show', short)).out)).toMatchObject({
      run: { runId: ids.done },
    })
    const ambiguous = await folder.look('runs', 'show', ids.done!.slice(0, 3))
    expect([ambiguous.code, ambiguous.err.includes('not unique')]).toEqual([2, true])
    const unknown = await folder.look('runs', 'show', 'zzz')
    expect([unknown.code, unknown.err.includes('no run begins with')]).toEqual([2, true])
  })

  it('shows events, states, differences', async () => {
    const events = (await folder.look('events', ids.done!, '-o', 'jsonl')).out.trim().split('\n')
    const types = events.map((l) => (JSON.parse(l) as { type: string }).type)
    expect(types.at(0)).toBe('agent_started')
    expect(types.at(-1)).toBe('completion')
    const replay = await folder.look('replay', ids.done!, '--event', '2', '-o', 'json')
    expect(JSON.parse(replay.out)).toMatchObject({ revision: 2, machineState: 'IDLE' })
    const diff = await folder.look('diff', ids.done!, '0', '2')
    expect(diff.out).toContain('Messages (0 in common):')
    expect(diff.out).toContain('/turn: 0 → 1')
    // What only the program itself cares for stays in -o json.
    expect(diff.out).not.toContain('/clock')
    const tail = await folder.look('tail', '--no-follow', '--run', ids.done!, '--type', 'completion', '-o', 'jsonl')
    expect(JSON.parse(tail.out)).toMatchObject({ type: 'completion', runId: ids.done })
  })

  it('verifies a run and its export elsewhere, and tells a forged one', async () => {
    expect((await folder.look('verify')).code).toBe(0)
    const exported = (await folder.look('export', ids.done!)).out
    const file = join(folder.root, 'run.ndjson')
    writeFileSync(file, exported)
    const held = await folder.look('verify', '--file', file)
    expect([held.code, held.out.includes('holds')]).toEqual([0, true])
    const lines = exported.trim().split('\n')
    const forged = lines.map((l) => l.replace('"turn":1', '"turn":2')).join('\n')
    writeFileSync(file, forged)
    expect((await folder.look('verify', '--file', file)).code).toBe(5)
    const swapped = lines.with(
      3,
      lines[3]!.replace(/"body":"[^"]*"/, `"body":"${Buffer.from('{"forged":1}').toString('base64')}"`),
    )
    writeFileSync(file, swapped.join('\n'))
    expect((await folder.look('verify', '--file', file)).out).toContain('BODY')
    writeFileSync(file, lines.slice(0, -1).join('\n'))
    expect((await folder.look('verify', '--file', file)).code).toBe(5)
    writeFileSync(file, `${lines.slice(0, 3).join('\n')}\n{"cut`)
    const cut = await folder.look('verify', '--file', file)
    expect([cut.code, cut.err]).toEqual([5, expect.stringContaining('line 4 is no JSON')])
    writeFileSync(file, 'root:x:0:0')
    const empty = join(folder.root, 'empty.ndjson')
    writeFileSync(empty, '')
    for (const [none, says] of [
      ['/dev/zero', /is no regular file; name one that "export" has written/],
      [folder.root, /is no regular file/],
      [empty, /this is no export: it is empty/],
      [file, /this is no export: line 1 is no JSON/],
    ] as const) {
      const { code, err } = await folder.look('verify', '--file', none)
      expect([code, err]).toEqual([2, expect.stringMatching(says)])
      expect(err).not.toContain('should not have happened')
    }
  })

  it('forks, backs up, rebuilds, keeps secrets without showing them', async () => {
    const fork = await folder.look('fork', ids.done!, '--to', '1', '--no-drive', '--budget-tokens', '9000')
    expect(fork.out.trim()).toMatch(/^\w+$/)
    const backup = join(folder.root, 'backup')
    expect((await folder.look('backup', backup)).code).toBe(0)
    expect((await folder.look('backup', backup)).err).toContain('exists')
    expect(await folder.look('rebuild')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/events; the tables are equal$/m),
    })
    const secret = await folder.start(['secrets', 'set', 'TOKEN'], { input: 'hush-hush\n' }).ended
    expect([secret.code, `${secret.out}${secret.err}`.includes('hush')]).toEqual([0, false])
    expect((await folder.start(['secrets', 'set', 'TOKEN'], { input: '' }).ended).code).toBe(2)
    const short = await folder.start(['secrets', 'set', 'TOKEN'], { input: 'x\n' }).ended
    expect([short.code, short.err]).toEqual([1, expect.stringContaining('shorter than 4 characters')])
    const word = await folder.start(['secrets', 'set', 'TOKEN'], { input: 'changeme\n' }).ended
    expect([word.code, word.err]).toEqual([
      0,
      expect.stringMatching(/warning: the value of TOKEN is not hidden.*; set/),
    ])
    expect(await folder.look('secrets', 'remove', 'TOKEN')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^removed TOKEN: no tool is given it any more\. It stays hidden/),
    })
    expect((await folder.look('secrets', 'remove', 'TOKEN')).err).toContain('no secret "TOKEN"')
  })

  it('pauses at the first Ctrl-C; steps, cancels and ends from there', async () => {
    const paused = folder.start(folder.waits(folder.workspace()))
    await paused.said('thinking')
    paused.process.kill('SIGINT')
    const first = await paused.ended
    expect([first.code, first.err.includes(`${folder.program} resume`)]).toEqual([8, true])
    const id = idIn(first.err)
    const turns = async () => {
      const { out } = await folder.look('events', id, '-o', 'jsonl')
      return out.match(/"type":"turn_end"/g)?.length ?? 0
    }
    const before = await turns()
    expect((await folder.look('step', id)).code).toBe(8)
    expect(await turns()).toBe(before + 1)
    expect((await folder.look('cancel', id)).err).toContain('the run is cancelled')
    for (const more of [
      ['resume', id],
      ['input', id, 'more'],
    ]) {
      expect(await folder.look(...more)).toMatchObject({ code: 1, err: expect.stringContaining('RUN_FINISHED') })
    }
  })

  it('records what is said to a run that asks', async () => {
    const asked = await folder.look('run', 'ask me', '--no-workspace')
    expect([asked.code, asked.err.includes('keepup input')]).toEqual([8, true])
    const id = idIn(asked.err)
    expect((await folder.look('input', id, 'blue')).code).toBe(0)
    expect((await folder.look('resume', id)).out).toBe('blue\n')
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    'comes to rest at %s: nothing is left in doubt, and another one goes on',
    async (signal) => {
      const workspace = folder.workspace()
      const first = folder.start(folder.waits(workspace))
      await first.said('thinking')
      first.process.kill(signal)
      const { code, err } = await first.ended
      expect([code, err.includes(`${folder.program} resume`)]).toEqual([130, true])
      giveSign(workspace)
      expect(await folder.look('resume', idIn(err))).toMatchObject({ code: 0, out: 'wait\n' })
      const events = (await folder.look('events', idIn(err), '-o', 'jsonl')).out
      expect(events).not.toMatch(/"model_attempt_lost"|"tool_call_unknown"|"DRIVER_LOST"/)
    },
  )

  it('erases what is private; the proof then says so', async () => {
    const { err } = await folder.look('run', 'finish', '--no-workspace')
    const id = idIn(err)
    const unsaid = await folder.look('erase', id, '--revision', '1', '--reason', 'private')
    expect([unsaid.code, unsaid.err]).toEqual([2, expect.stringContaining('say --yes to do it, or --dry-run')])
    const looked = await folder.look('erase', id, '--revision', '1', '--reason', 'private', '--dry-run')
    expect([looked.code, looked.out]).toEqual([
      0,
      expect.stringMatching(/^This would empty\n1 body .*\n {2}@1 turn 0 user_input, \d+ B\n$/),
    ])
    expect((await folder.look('verify', id)).out).not.toContain('erased')
    const stays = /Not erased: the workspace itself, the versions of its files, and backups/
    for (const { err } of [unsaid, looked]) expect(err).toMatch(stays)
    expect((await folder.look('erase', '--help')).out).toMatch(stays)
    expect(await folder.look('erase', id, '--revision', '1', '--reason', 'private', '--yes')).toMatchObject({ code: 0 })
    const verified = await folder.look('verify', id)
    expect([verified.code, verified.out.includes('revision 1 erased (other): private')]).toEqual([0, true])
    expect((await folder.look('events', id)).out).toMatch(/^@1 .*user_input +by \S+: \(erased\)$/m)
    expect(await folder.look('erase', id, '--revision', '1', '--reason', 'again', '--yes')).toMatchObject({
      code: 0,
      out: 'nothing was left to erase\n',
    })
    expect((await folder.look('events', id, '-o', 'jsonl')).out.match(/"type":"erased"/g)).toHaveLength(1)
    await folder.look('erase', id, '--revision', '0', '--reason', 'private', '--yes')
    expect((await folder.look('runs', 'show', id)).out).toMatch(
      /^task +\[erased\]\nstatus .*\nsummary .*\nmodel +scripted:/m,
    )
    const all = (...more: string[]) => folder.look('erase', id, '--all', '--reason', 'private', ...more)
    await all('--yes')
    for (const more of ['--yes', '--dry-run'])
      expect(await all(more)).toMatchObject({ code: 0, out: 'nothing was left to erase\n' })
    const open = await folder.look('run', 'wait', '--no-workspace', '--no-drive')
    const early = await folder.look('erase', open.out.trim(), '--all', '--reason', 'early', '--yes')
    expect([early.code, early.err.includes('RUN_ACTIVE')]).toEqual([1, true])
  })

  it('tells what cannot be written on one line', () => {
    for (const args of [['--help'], ['-o', 'jsonl', 'tail', '--no-follow']]) {
      const command = `"${process.execPath}" "${entry}" --data "${folder.data}" ${args.join(' ')} >/dev/full`
      const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
      const line = 'keepup: cannot write to standard output: ENOSPC: no space left on device, write\n'
      expect([status, stderr]).toEqual([1, line])
    }
  })

  it('is quiet where its reader has gone', () => {
    const command = `"${process.execPath}" "${entry}" --data "${folder.data}" -o jsonl tail --no-follow | head -c 1`
    const { stderr, stdout } = spawnSync('bash', ['-o', 'pipefail', '-c', command], { encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['{', ''])
  })

  it('goes on serving after the reader of its messages has gone', async () => {
    const serve = folder.start(['serve', '--port', '0'], { env: { KEEPUP_LOG_LEVEL: 'debug' } })
    await serve.said('serving')
    const [, url] = /on (http:\S+)/.exec(serve.err())!
    serve.process.stderr!.destroy()
    // Each request is a message that cannot be written.
    for (let n = 0; n < 5; n++) expect((await fetch(`${url}/openapi.json`)).status).toBeGreaterThan(0)
    serve.process.kill('SIGTERM')
    await serve.ended
  })

  it('looks after itself with doctor', async () => {
    const { code, out, err } = await folder.start(['doctor', '-o', 'json'], {
      env: { ANTHROPIC_API_KEY: 'sk-hush', KEEPUP_FOO: '1' },
    }).ended
    const findings = JSON.parse(out) as { check: string; state: string; found: string }[]
    expect(code).toBe(0)
    expect(findings.map((f) => f.check)).toEqual([
      'node',
      'settings',
      'data folder',
      'token',
      'log mark',
      'disk',
      'clock',
      'git',
      'sandbox',
      'model keys',
      'keepup',
      'drivers',
      'log',
      'log end',
      'tables',
      'rows',
      'signed heads',
      'event loop',
    ])
    const of = (check: string) => findings.find((f) => f.check === check)!
    expect(err).toContain('KEEPUP_FOO is no setting and is passed over\n')
    expect(of('settings')).toMatchObject({ state: 'warning', found: 'unknown variables: KEEPUP_FOO' })
    expect(of('log').found).toMatch(/^[0-9a-z]{16}, opened here$/)
    expect(of('model keys').found).toContain('ANTHROPIC_API_KEY')
    expect(out).not.toContain('sk-hush')
  })
})
