// @module-tag git
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openServices } from '../../../api/process/open-services.ts'
import type { OpenServices } from '../../../api/process/owner/connect.ts'
import { cliFolder, idIn, inProcess } from '../support/cli.ts'

describe('what people are told', { timeout: 120_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const written = async (workspace: string) => {
    const ended = await folder.look('run', 'write', '-w', workspace, '--tools', 'write_file', '--approve', 'write_file')
    expect(ended).toMatchObject({ code: 0 })
    return idIn(ended.err)
  }

  it('restore lists what changes, asks, keeps what it replaces, and says how to bring it back', async () => {
    const workspace = folder.workspace()
    const [hello, newer] = [join(workspace, 'hello.txt'), join(workspace, 'mine.txt')]
    const id = await written(workspace)
    writeFileSync(hello, 'newer\n')
    writeFileSync(newer, 'a person wrote this\n')
    const looked = await folder.look('restore', id, '1', '--dry-run')
    expect(looked.code).toBe(0)
    expect(looked.out).toBe(
      'This would change:\n1 file modified:\n  ~ hello.txt\n1 file deleted (that version does not know them):\n  - mine.txt\n',
    )
    const refused = await folder.look('restore', id, '1')
    expect([refused.code, refused.out]).toEqual([2, ''])
    expect(refused.err).toContain('  - mine.txt')
    expect(refused.err).toContain('nothing was changed: say --yes')
    expect([readFileSync(hello, 'utf8'), existsSync(newer)]).toEqual(['newer\n', true])
    const done = await folder.look('restore', id, '1', '--yes')
    expect([done.code, readFileSync(hello, 'utf8'), existsSync(newer)]).toEqual([0, 'hello\n', false])
    const [, tree] = /keepup restore \w+ --tree (\w+)/.exec(done.err)!
    expect(done.err).toContain(`to bring it back: keepup restore ${id} --tree ${tree} --data ${folder.data}`)
    expect((await folder.look('restore', id, '--tree', tree!, '--yes')).code).toBe(0)
    expect([readFileSync(hello, 'utf8'), readFileSync(newer, 'utf8')]).toEqual(['newer\n', 'a person wrote this\n'])
    expect((await folder.look('restore', id, '--tree', tree!)).out).toContain('nothing to change')
    expect((await folder.look('restore', id)).code).toBe(2)
    expect((await folder.look('restore', id, '1', '--tree', tree!)).code).toBe(2)
  })

  it('a fork names its folder, and the run says how to go on', async () => {
    const source = folder.workspace()
    const id = await written(source)
    const forked = await folder.look('fork', id, '--to', '1', '--no-drive', '-o', 'json')
    const { runId, workspace } = JSON.parse(forked.out) as { runId: string; workspace: string }
    expect(readFileSync(join(workspace, 'hello.txt'), 'utf8')).toBe('hello\n')
    expect(forked.err.split('\n').slice(0, 2)).toEqual([`works in ${workspace}`, `run ${runId}`])
    expect(dirname(workspace)).toBe(dirname(source))
    const shown = await folder.look('runs', 'show', runId)
    expect(shown.out).toMatch(new RegExp(`^workspace +${workspace}$`, 'm'))
    expect(shown.err).toContain(`go on with: keepup resume ${runId}`)
    // A fork of the end waits to be told what comes next.
    const again = JSON.parse((await folder.look('fork', id, '--no-drive', '-o', 'json')).out) as { runId: string }
    const waits = await folder.look('runs', 'show', again.runId)
    expect(waits.out).toMatch(/^status +active, waits: input$/m)
    expect(waits.err).toContain(`keepup input ${again.runId} "…"`)
    // A run that has ended asks for nothing more.
    expect((await folder.look('runs', 'show', id)).err).toBe('')
  })

  it('a question is repeated wherever the run waits for its answer', async () => {
    const asked = await folder.look('run', 'ask me', '--no-workspace')
    const shown = await folder.look('runs', 'show', idIn(asked.err))
    for (const { err } of [asked, shown]) {
      expect(err).toContain('the agent asks: Which?')
      expect(err).toContain(`keepup input ${idIn(asked.err)} "…"`)
    }
    const list = await folder.look('approvals')
    expect(list.out).toMatch(new RegExp(`^${idIn(asked.err)}.t1.c0 +an answer +ask_user +.*Which\\?`, 'm'))
    expect(list.err).toContain(`keepup input ${idIn(asked.err)} "…"`)
    const answer = ['input', idIn(asked.err), 'this one', '--answers', `${idIn(asked.err)}.t1.c0`]
    expect(asked.err).toContain(`"…" --answers ${answer.at(-1)}`)
    expect((await folder.look(...answer)).code).toBe(0)
    expect((await folder.look(...answer)).err).toContain('QUESTION_CHANGED')
    expect((await folder.look('approvals')).out).not.toContain('Which?')
    expect((await folder.look('runs', 'show', idIn(asked.err))).err).not.toContain('Which?')
  })

  it('a doubt shows its command and the three answers, also among the approvals', async () => {
    const workspace = folder.workspace()
    const task = ['run', 'command', '-w', workspace, '--no-sandbox', '--approve', 'run_command']
    const killed = await folder.start(task, { env: { KEEPUP_CRASH_AT: 'after_tool:1' } }).ended
    expect(killed.signal).toBe('SIGKILL')
    const id = idIn(killed.err)
    const resumed = await folder.look('resume', id)
    expect(resumed.code).toBe(8)
    const list = await folder.look('approvals')
    expect(list.out).toMatch(new RegExp(`^${id}.t1.c0 +what became of it +run_command`, 'm'))
    for (const { err } of [resumed, list, await folder.look('runs', 'show', id)]) {
      expect(err).toContain('{"command":"touch made.txt"}')
      for (const answer of ['happened', 'run', 'abandon']) expect(err).toContain(`keepup resolve ${id}.t1.c0 ${answer}`)
    }
    const json = JSON.parse((await folder.look('approvals', '-o', 'json')).out)
    expect(json).toContainEqual(expect.objectContaining({ for: 'doubt', toolCallId: `${id}.t1.c0` }))
  })

  it('a fork says what stays behind', async () => {
    const forked = await folder.look('fork', await written(folder.workspace()), '--to', '1', '--no-drive')
    expect(forked.err).toContain('What was ignored there (node_modules, .git and the like) is not in it.')
    expect(forked.err).toContain('Standing approvals are not inherited')
  })

  it('a run says where it works before anything else', async () => {
    const workspace = folder.workspace()
    const { err } = await folder.look('run', 'finish', '-w', workspace)
    expect(err.split('\n').slice(0, 2)).toEqual([`works in ${workspace}`, expect.stringMatching(/^run \w+$/)])
  })

  it('a limit that leaves no turn for the work is told at once, and stands in the error', async () => {
    const { code, err } = await folder.look('run', 'ask me', '--no-workspace', '--max-turns', '2')
    expect(code).toBe(3)
    expect(err).toContain(
      "no turn is left for the work itself (2 turns: the warning's, and 2 after it); raise --max-turns",
    )
    expect(err).toContain('it began because the turn limit is reached')
    const poor = await folder.look('run', 'ask me', '--no-workspace', '--budget-tokens', '300')
    expect(poor.err).toContain('no turn is left for the work itself; raise the budget')
    expect(poor.err).toContain('it began because the budget is nearly spent')
  })

  it('a command tells its exit code', async () => {
    const approved = ['--no-sandbox', '--approve', 'run_command', '-w', folder.workspace()]
    expect((await folder.look('run', 'command', ...approved)).err).toMatch(/^ {2}✓ run_command exit 0 \d+ ms$/m)
    expect((await folder.look('run', 'broken', ...approved)).err).toMatch(/^ {2}✗ run_command exit 3 \d+ ms$/m)
  })

  it('a cancelled run is called so, and is still one of those that failed', async () => {
    const { err } = await folder.look('run', 'wait', '--no-workspace', '--no-drive')
    await folder.look('cancel', idIn(err))
    const resumed = await folder.look('resume', idIn(err))
    expect(resumed.err).not.toContain('ERROR CANCELLED')
    for (const status of ['cancelled', 'failed']) {
      const { out } = await folder.look('runs', 'list', '--status', status)
      expect(out).toMatch(new RegExp(`^${idIn(err)} +cancelled `, 'm'))
    }
    expect((await folder.look('runs', 'list', '--error', 'CANCELLED')).out).toContain(idIn(err))
    expect((await folder.look('runs', 'list', '--error', 'MODEL_FAILED')).out).not.toContain(idIn(err))
    expect((await folder.look('runs', 'list', '--waiting', 'people')).out).not.toContain(idIn(err))
    const both = await folder.look('runs', 'list', '--status', 'cancelled', '--error', 'MODEL_FAILED')
    expect([both.code, both.err]).toEqual([
      2,
      expect.stringContaining('give only one of --status cancelled and --error'),
    ])
    const [{ status }] = JSON.parse((await folder.look('-o', 'json', 'runs', 'list', '--status', 'cancelled')).out)
    expect(status).toBe('failed')
  })

  it('a run whose process was killed is interrupted, and says how to go on', async () => {
    const task = ['run', 'command', '-w', folder.workspace(), '--no-sandbox', '--approve', 'run_command']
    const killed = await folder.start(task, { env: { KEEPUP_CRASH_AT: 'before_tool:1' } }).ended
    expect(killed.signal).toBe('SIGKILL')
    const id = idIn(killed.err)
    expect((await folder.look('runs', 'list')).out).toMatch(new RegExp(`^${id} +interrupted `, 'm'))
    const listed = (await folder.look('runs', 'list', '--status', 'interrupted')).out.trim().split('\n').slice(1)
    expect(listed).toContainEqual(expect.stringMatching(`^${id} `))
    expect(listed.filter((line) => !/^\w+ +interrupted /.test(line))).toEqual([])
    const shown = await folder.look('runs', 'show', id)
    expect(shown.out).toMatch(/^status +interrupted$/m)
    expect(JSON.parse((await folder.look('runs', 'show', id, '-o', 'json')).out).run.interrupted).toBe(true)
    expect(shown.err).toContain(`go on with: keepup resume ${id}`)
  })

  it('on servers, where another process may drive it, no run is called interrupted', async () => {
    const { err } = await folder.look('run', 'ask me', '--no-workspace')
    await folder.look('input', idIn(err), 'this one')
    expect((await folder.look('runs', 'list')).out).toMatch(new RegExp(`^${idIn(err)} +interrupted `, 'm'))
    const settings = { KEEPUP_EVENTSTORE: 'esdb://nowhere:2113', KEEPUP_POSTGRES: 'postgres://nowhere/keepup' }
    // The folder stands for the servers: what is asked is only how the command line tells it.
    const workSubscription = { async *notifications() {} }
    const open = (async (config, _, how) => ({
      ...(await openServices({ ...config, eventstore: null, postgres: null }, 'owner', how)),
      workSubscription,
    })) as OpenServices
    const { out } = await inProcess(['--data', folder.data, 'runs', 'list'], settings, { cwd: folder.root, open })
    expect(out).toMatch(new RegExp(`^${idIn(err)} +active `, 'm'))
    expect(out).not.toContain('interrupted')
  })

  it('a difference without files names none', async () => {
    const { err } = await folder.look('run', 'write', '-w', folder.workspace(), '--tools', 'write_file')
    const same = await folder.look('diff', idIn(err), '0', '0')
    expect([same.code, same.out]).toEqual([0, expect.not.stringContaining('Files:')])
  })

  it('an approval is shown in full before it is given', async () => {
    const workspace = folder.workspace()
    const { err } = await folder.look('run', 'write', '-w', workspace, '--tools', 'write_file')
    const call = `${idIn(err)}.t1.c0`
    expect(err).toContain(`keepup approve ${call} --dry-run`)
    const looked = await folder.look('approve', call, '--dry-run')
    expect([looked.code, looked.out]).toEqual([0, expect.stringContaining('+hello')])
    expect((await folder.look('approvals')).out).toContain(call)
    // A decision names the call, and counts for the question that was read alone.
    expect(await folder.look('approve', idIn(err))).toMatchObject({
      code: 2,
      err: expect.stringContaining(`name the call that you have read: keepup approve ${call}`),
    })
    const [, next] = /^next: keepup (approve .*)$/m.exec(looked.out)!
    writeFileSync(join(workspace, 'hello.txt'), 'another')
    expect(await folder.look(...next!.split(' '))).toMatchObject({
      code: 1,
      err: expect.stringContaining('not the question of --question any more'),
    })
    rmSync(join(workspace, 'hello.txt'))
    // A call may be named by the beginning of its id.
    for (const beginning of [call.slice(0, -8), ...[1, 2, 3, 4].map((n) => call.slice(0, -n))])
      expect(await folder.look('approve', beginning, '--dry-run')).toEqual(looked)
    expect(await folder.look('approve', call.replace('.t1.c0', '.t2'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('.t2 waits for this; see "keepup approvals '),
    })
    expect((await folder.look(...next!.split(' '))).code).toBe(0)
  })

  it('the demo keeps to a folder of its own, also where the settings name servers', async () => {
    const servers = {
      KEEPUP_EVENTSTORE: 'esdb://127.0.0.1:9?tls=false',
      KEEPUP_POSTGRES: 'postgres://127.0.0.1:9/none',
    }
    const { code, err } = await inProcess(['--data', folder.data, 'demo'], { ...servers, PATH: process.env.PATH ?? '' })
    const own = /lies in (\S+);/.exec(err)?.[1] ?? expect.unreachable(err)
    try {
      expect([code, err]).toEqual([0, expect.stringContaining('Nothing of it goes to the servers of the settings.\n')])
      // Where the variables stand, what it says to type next finds the run all the same.
      const next = `env -u KEEPUP_EVENTSTORE -u KEEPUP_POSTGRES keepup runs show (\\S+) --data ${own}/data\n`
      const [, id = ''] = new RegExp(next).exec(err) ?? []
      expect(await inProcess(['--data', join(own, 'data'), 'runs', 'show', id])).toMatchObject({ code: 0 })
    } finally {
      rmSync(own, { recursive: true })
    }
  })

  it('the demo of a data folder that was named says that its run stays there', async () => {
    const { code, err } = await inProcess(['--data', folder.data, 'demo'], { PATH: process.env.PATH ?? '' })
    const [, data, project = expect.unreachable(err)] =
      /stays in (\S+); the project lies in (\S+), which/.exec(err) ?? []
    rmSync(project, { recursive: true })
    expect([code, data]).toEqual([0, folder.data])
    // The second act: one of the architect's agents fails, and is tried again.
    expect(err).toMatch(
      /failed: the agent ended with NO_COMPLETION[\s\S]* asks a reviewer: [\s\S]*the answer: The test covers/,
    )
    expect(err.match(/─ (Researcher|Coder|Reviewer) +completed/g)).toHaveLength(3)
    const [, id = ''] = /runs show (\S+) /.exec(err) ?? []
    expect(await folder.look('runs', 'show', id)).toMatchObject({ code: 0 })
  })

  it('the reason of a cancel stands in the run and among its events', async () => {
    const { err } = await folder.look('run', 'finish', '--no-workspace', '--no-drive')
    const id = idIn(err)
    await folder.look('cancel', id, '--reason', 'wrong customer', '--by', 'ada')
    expect((await folder.look('runs', 'show', id)).out).toMatch(/^error +CANCELLED: cancelled by ada: wrong customer$/m)
    expect((await folder.look('events', id)).out).toMatch(/^@\d+ .* cancel_requested +by ada: wrong customer$/m)
  })

  it('events, states and gates are told in lines that a person can read', async () => {
    const ended = await folder.look('run', 'fail now', '--no-workspace', '--role', 'coder')
    const id = idIn(ended.err)
    expect(ended.err).toContain('gates that do not hold: tests_exist, tests_pass')
    expect((await folder.look('runs', 'show', id)).out).toMatch(/^unmet gates +tests_exist, tests_pass$/m)
    const events = (await folder.look('events', id)).out.trim().split('\n')
    expect(events.find((line) => line.includes('model_call_end'))).toMatch(
      /^@\d+ +[\d:]{8} +turn 1 +model_call_end .*I give up\.$/,
    )
    expect(events.find((line) => line.includes(' resumed '))).toMatch(/resumed +by \S+$/)
    const replay = (await folder.look('replay', id)).out
    expect(replay).toMatch(/^state +ERROR NO_COMPLETION/m)
    expect(replay).toContain('  user: fail')
    expect(replay).not.toContain('{')
  })
})
