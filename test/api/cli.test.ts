import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFolder, inProcess } from './cli-support.ts'

describe('the command line', () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())

  it('shows its exit codes and every command in --help', async () => {
    const { code, out, err } = await folder.run('--help')
    expect([code, err]).toEqual([0, ''])
    for (const line of ['0    done', '2    usage', '3    the run ended in ERROR', '8    the run waits for a person']) {
      expect(out).toContain(line)
    }
    const commands =
      'run input approve reject resolve cancel pause resume step restore backup runs events tail replay diff fork verify rebuild secrets serve doctor'
    for (const command of commands.split(' ')) expect(out).toMatch(new RegExp(`^  ${command} `, 'm'))
  })

  it.each([
    [['nonsense'], 'unknown command'],
    [['run', '--nonsense'], 'unknown option'],
    [['-o', 'xml', 'runs'], 'table, json, jsonl'],
    [['run', 'x', '--max-turns', 'many'], '--max-turns: expected a whole number from 1'],
    [['run', 'x', '--mode', 'fast'], 'expected interactive, batch'],
    [['run', 'x', '--budget-usd', 'lots'], '--budget-usd'],
    [['run', ' '], 'the task is empty'],
    [['replay', 'x', '--to', '1', '--turn', '1'], 'only one of'],
    [['resolve', 'x.t1.c0', 'maybe'], 'expected happened, run, abandon'],
    [['--config', '/nowhere/keepup.json', 'runs'], '/nowhere/keepup.json'],
  ])('answers bad usage with 2: %j', async (args, says) => {
    const { code, out, err } = await inProcess(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says)
  })

  it('names a bad setting and where it came from', async () => {
    const { code, err } = await inProcess(['runs'], { KEEPUP_PORT: 'high' })
    expect(code).toBe(2)
    expect(err).toContain('bad value for "port" (variable KEEPUP_PORT)')
  })

  it('refuses a token that others can read', async () => {
    const data = join(folder.root, 'loose')
    mkdirSync(data)
    writeFileSync(join(data, 'token'), 'x'.repeat(40), { mode: 0o644 })
    const { code, err } = await folder.start(['run', 'finish', '--no-workspace'], { data }).ended
    expect(code).toBe(1)
    expect(err).toContain('chmod 600')
  })
})

describe('runs on the command line', () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const ids: Record<string, string> = {}
  const idIn = (err: string): string => /^run (\w+)$/m.exec(err)![1]!

  beforeAll(async () => {
    const [done, failed, waiting] = [
      await folder.run('run', 'finish the \u001b[31mtask\u001b[0m'),
      await folder.run('run', 'fail'),
      await folder.run('-o', 'json', 'run', 'write'),
    ]
    expect([done.code, failed.code, waiting.code]).toEqual([0, 3, 8])
    // Data on stdout, the rest on stderr; and no escape sequence reaches the terminal.
    expect(done.out).toBe('finish the ␛[31mtask␛[0m\n')
    expect(done.err).toContain('complete_task')
    expect(done.err).not.toContain('\u001b')
    expect(failed.err).toContain('NO_COMPLETION')
    expect(JSON.parse(waiting.out)).toMatchObject({ status: 'active', waiting: { for: 'approval' } })
    Object.assign(ids, { done: idIn(done.err), failed: idIn(failed.err), waiting: idIn(waiting.err) })
  })

  it('keeps the token to its user', () => {
    expect(statSync(join(folder.data, 'token')).mode & 0o777).toBe(0o600)
  })

  it('says what to type next, and that works', async () => {
    const list = await folder.look('approvals', '-o', 'jsonl')
    const call = JSON.parse(list.out) as { toolCallId: string }
    expect(call.toolCallId).toBe(`${ids.waiting}.t1.c0`)
    const approved = await folder.run('approve', ids.waiting!)
    expect([approved.code, approved.err.includes(`keepup resume ${ids.waiting}`)]).toEqual([0, true])
    expect(approved.err).toContain('+hello')
    const again = await folder.run('approve', call.toolCallId)
    expect([again.code, again.err.includes('NOT_PENDING')]).toEqual([1, true])
    const resumed = await folder.run('resume', ids.waiting!)
    expect([resumed.code, resumed.out]).toEqual([0, 'write approved\n'])
    // Only what is new is told again.
    expect(resumed.err).not.toContain('waits for approval')
  })

  it('lists runs as a table with disk use, as json and as jsonl', async () => {
    const asTable = (await folder.look('runs', 'list')).out.split('\n')
    expect(asTable[0]).toMatch(/^RUN +STATUS +ROLE +TURN +COST +DISK +UPDATED +TASK$/)
    expect(asTable.find((l) => l.startsWith(ids.done!))).toContain('1.0 KiB')
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
    expect([unknown.code, unknown.err.includes('no run begins with')]).toEqual([1, true])
  })

  it('shows events, states, differences', async () => {
    const events = (await folder.look('events', ids.done!, '-o', 'jsonl')).out.trim().split('\n')
    const types = events.map((l) => (JSON.parse(l) as { type: string }).type)
    expect(types.at(0)).toBe('agent_started')
    expect(types.at(-1)).toBe('completion')
    const replay = await folder.look('replay', ids.done!, '--event', '2', '-o', 'json')
    expect(JSON.parse(replay.out)).toMatchObject({ revision: 2, state: { status: 'THINKING' } })
    const diff = await folder.look('diff', ids.done!, '0', '2')
    expect(diff.out).toContain('0 messages in common')
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
    expect((await folder.run('verify', '--file', file)).code).toBe(5)
    const swapped = lines.with(
      3,
      lines[3]!.replace(/"body":"[^"]*"/, `"body":"${Buffer.from('{}').toString('base64')}"`),
    )
    writeFileSync(file, swapped.join('\n'))
    expect((await folder.look('verify', '--file', file)).out).toContain('BODY')
    writeFileSync(file, lines.slice(0, -1).join('\n'))
    expect((await folder.look('verify', '--file', file)).code).toBe(5)
  })

  it('forks, backs up, rebuilds, keeps secrets without showing them', async () => {
    const fork = await folder.look('fork', ids.done!, '--to', '1')
    expect(fork.out.trim()).toMatch(/^\w+$/)
    const backup = join(folder.root, 'backup')
    expect((await folder.look('backup', backup)).code).toBe(0)
    expect((await folder.look('backup', backup)).err).toContain('exists')
    expect((await folder.look('rebuild')).out).toContain('equal')
    const secret = await folder.start(['secrets', 'set', 'TOKEN'], { input: 'hush-hush\n' }).ended
    expect([secret.code, `${secret.out}${secret.err}`.includes('hush')]).toEqual([0, false])
    expect((await folder.start(['secrets', 'set', 'TOKEN'], { input: '' }).ended).code).toBe(2)
  })

  it('pauses at the first Ctrl-C, aborts at the second', async () => {
    const paused = folder.start(['run', 'hang'])
    await paused.said('thinking')
    paused.process.kill('SIGINT')
    const first = await paused.ended
    expect([first.code, first.err.includes('keepup resume')]).toEqual([8, true])
    const id = idIn(first.err)
    const stepped = await folder.run('step', id)
    expect(stepped.code).toBe(8)
    expect((await folder.run('cancel', id)).err).toContain(`keepup resume ${id}`)
    expect((await folder.run('resume', id)).code).toBe(3)
    expect((await folder.run('input', id, 'more')).code).toBe(1)
  })

  it('tells a drive that could not go on', async () => {
    const { code, err } = await folder.run('run', 'break')
    expect([code, err.includes('the disk is full'), err.includes('keepup resume')]).toEqual([1, true, true])
  })

  it('is quiet where nobody reads on', () => {
    const entry = fileURLToPath(new URL('../support/fakes/cli.ts', import.meta.url))
    const command = `"${process.execPath}" "${entry}" --data "${folder.data}" -o jsonl tail --no-follow | head -c 1`
    const { stderr, stdout } = spawnSync('bash', ['-o', 'pipefail', '-c', command], { encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['{', ''])
  })

  it('looks after itself with doctor', async () => {
    const { code, out } = await folder.start(['doctor', '-o', 'json'], {
      env: { ANTHROPIC_API_KEY: 'sk-hush', KEEPUP_PROT: '1' },
    }).ended
    const findings = JSON.parse(out) as { check: string; state: string; found: string }[]
    expect(code).toBe(0)
    expect(findings.map((f) => f.check)).toEqual([
      'node',
      'settings',
      'data folder',
      'token',
      'disk',
      'clock',
      'log',
      'git',
      'sandbox',
      'model keys',
    ])
    const of = (check: string) => findings.find((f) => f.check === check)!
    expect(of('settings')).toMatchObject({ state: 'warning', found: 'unknown variables: KEEPUP_PROT' })
    expect(of('log').found).toContain('fakelog')
    expect(of('model keys').found).toContain('ANTHROPIC_API_KEY')
    expect(out).not.toContain('sk-hush')
  })
})

describe('the entry', () => {
  const entry = fileURLToPath(new URL('../../api/cli/keepup.js', import.meta.url))

  it('checks the version before anything else', () => {
    const source = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' }); await import(${JSON.stringify(`file://${entry}`)})`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
    expect([status, stderr.includes('needs Node.js 24')]).toEqual([1, true])
  })
})
