import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { GROUPS } from '../../../api/cli/commands/groups.ts'
import { cliFolder, inProcess } from '../support/cli.ts'

describe('the command line', () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const started = async () => {
    const { out } = await folder.look('-o', 'json', 'run', 'finish', '--no-workspace', '--no-drive')
    return JSON.parse(out) as { runId: string }
  }

  it('names a data folder that is a file', async () => {
    const file = join(folder.workspace(), 'file')
    writeFileSync(file, 'x')
    const { code, err } = await inProcess(['--data', file, 'runs', 'list'])
    expect([code, err]).toEqual([2, expect.stringContaining(`${file} is a file; name a folder with --data`)])
    const looked = await inProcess(['--data', file, '-o', 'json', 'doctor'])
    expect(JSON.parse(looked.out)).toContainEqual(
      expect.objectContaining({ check: 'data folder', state: 'broken', found: `${file} is a file` }),
    )
  })

  it('shows at most 20 lines without a command', async () => {
    const { code, out, err } = await inProcess(['--help'])
    expect([code, err]).toEqual([0, ''])
    expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
    for (const { name, purpose } of GROUPS) expect(out).toContain(`  ${name.padEnd(7)} ${purpose}`)
    const bare = await inProcess([])
    expect(bare).toMatchObject({ code: 2, out: '', err: out })
    expect((await inProcess(['help'])).out).toBe(out)
  })

  it.each(GROUPS.map((group) => [group.name, group] as const))(
    'shows the commands of a group: %s',
    async (name, group) => {
      const { code, out } = await inProcess(['help', ...name.split(' ')])
      expect(code).toBe(0)
      const shown = [...out.matchAll(/^ {2}([a-z][\w-]*)(?: .*)?$/gm)].map(([, command]) => command)
      expect(shown).toEqual(group.commands)
    },
  )

  it('shows the help of a command as "help COMMAND" too', async () => {
    for (const words of [['approve'], ['runs', 'show']])
      expect(await inProcess(['help', ...words])).toEqual(await inProcess([...words, '--help']))
  })

  it.each([
    ['log', 'events or transcript'],
    ['status', 'runs show or runs list'],
    ['ls', 'runs list'],
    ['ps', 'runs list'],
    ['start', 'run or serve'],
    ['deny', 'reject'],
    ['spendd', 'cost'],
  ])('leads from a word that people type to the command: %s', async (word, commands) => {
    const { code, err } = await inProcess([word])
    expect(code).toBe(2)
    expect(err).toContain(`(Did you mean ${commands}?)`)
  })

  it('shows its exit codes and every command in "help all"', async () => {
    const { code, out, err } = await inProcess(['help', 'all'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain((await inProcess(['help', 'codes'])).out)
    for (const line of [
      '0    done',
      '2    the command line or a setting cannot be understood',
      '3    the run ended in ERROR, or was cancelled',
      '4    the run is DONE, but gates of its role do not hold',
      '5    verification failed, an export or an event is damaged, the log has lost events, or a rebuild',
      '8    the run waits for a person',
    ]) {
      expect(out).toContain(line)
    }
    const commands =
      'run input approve reject resolve cancel pause resume step erase restore backup runs events tail replay diff fork verify repair release release-calls rebuild secrets sql serve worker auditors doctor'
    for (const command of commands.split(' ')) expect(out).toMatch(new RegExp(`^  ${command} `, 'm'))
  })

  it.each([
    [['nonsense'], 'unknown command'],
    [['run', '--nonsense'], 'unknown option'],
    [['-o', 'xml', 'runs'], 'table, json, jsonl, csv'],
    [['run', 'x', '--max-turns', 'many'], '--max-turns: expected a whole number from 1'],
    [['run', 'x', '--mode', 'fast'], 'expected interactive, batch'],
    [['run', 'x', '--budget-usd', 'lots'], '--budget-usd'],
    [['fork', 'x', '--budget-usd', '-1'], '--budget-usd: an amount of dollars is written like 2.50'],
    [['fork', 'x', '--budget-tokens', '0'], '--budget-tokens: expected a whole number from 1'],
    [['run', ' '], 'the task is empty'],
    [['replay', 'x', '--to', '1', '--turn', '1'], 'only one of'],
    [['resolve', 'x.t1.c0', 'maybe'], 'expected happened, run, abandon'],
    [['erase', 'x', '--all'], '--reason'],
    [['erase', 'x', '--reason', 'y'], 'either --revision or --all'],
    [['erase', 'x', '--revision', '1', '--all', '--reason', 'y'], 'either --revision or --all'],
    [['erase', 'x', '--revision', '1..2..3', '--reason', 'y'], 'a range such as 3..9'],
    [['erase', 'x', '--revision', 'first', '--reason', 'y'], 'revision: expected a whole number'],
    [
      ['runs', 'list', '--status', 'sleeping'],
      'expected active, completed, failed, cancelled, recovering, interrupted',
    ],
    [['runs', 'shwo'], 'unknown command "runs shwo" (did you mean "runs show"?); there are "runs list", "runs show"'],
    [['runs', 'everything'], 'unknown command "runs everything"; there are "runs list", "runs show"'],
    [['runs', 'list', '--limit', 'x'], '--limit: expected a whole number from 1'],
    [['aprove'], 'Did you mean approve or prove?'],
    [['shwo'], 'Did you mean runs show or artifacts show or docs show?'],
    [['rnu', 'x'], "unknown command 'rnu'\n(Did you mean run?)"],
    [['amn'], 'Did you mean man?'],
    [['biil'], 'Did you mean cost?'],
    [['repley'], 'Did you mean replay or docs reply?'],
    [['gibberish'], 'unknown command \'gibberish\'; "--help" names'],
    [['secrets', 'get'], 'unknown command "secrets get"'],
    [['tail', '--type', 'turn_strat'], '--type: there is no turn_strat; there are agent_started, forked'],
    [['--config', '/nowhere/keepup.json', 'runs'], '/nowhere/keepup.json'],
  ])('answers bad usage with 2: %j', async (args, says) => {
    const { code, out, err } = await inProcess(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says)
  })

  it.each([
    ['list', /did you mean "keepup runs list" or "keepup [a-z]+ list" or "keepup [a-z]+ list"\?/],
    ['runs', 'did you mean "keepup runs"?'],
    ['verfy', '"keepup verify"'],
    ['resume', 'did you mean "keepup resume"?'],
  ])('takes a task of one word that is a command, or nearly one, for a mistake: %s', async (word, says) => {
    const { code, out, err } = await folder.look('run', word, '--no-workspace')
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(says)
    expect(err).toContain('read from standard input: keepup run -')
  })

  it('names the roles that there are, and the defaults of limits', async () => {
    const erase = (await inProcess(['erase', '--help'])).out.replace(/\s+/g, ' ')
    expect(erase).toContain('Nor facts that the run saved with "remember"')
    const { out } = await inProcess(['run', '--help'])
    const help = out.replace(/\s+/g, ' ')
    expect(help).toContain(
      'the procedure to follow: researcher, coder, reviewer, architect, analyst, or one of "roles list" (default: none)',
    )
    expect(help).toContain('turns kept for the final warning (default: 2)')
  })

  it('makes nothing where it only reads', { tags: ['git'] }, async () => {
    const data = join(folder.root, 'never', 'made')
    for (const args of [['approvals'], ['events', 'x'], ['verify'], ['tail', '--no-follow'], ['sql', 'select 1']]) {
      const { code, err } = await inProcess(['--data', data, ...args])
      expect([args, code]).toEqual([args, 1])
      expect(err).toContain(`nothing is recorded in ${data} yet`)
    }
    // A list of runs without any is an answer.
    for (const format of ['table', 'json']) {
      const runs = await inProcess(['--data', data, '-o', format, 'runs', 'list'])
      expect([runs.code, runs.err]).toEqual([0, expect.stringContaining(`nothing is recorded in ${data} yet`)])
      if (format === 'json') expect(JSON.parse(runs.out)).toEqual([])
    }
    const { code, out } = await inProcess(['--data', data, 'doctor'])
    expect([code, out.includes('none yet; the first run makes it')]).toEqual([0, true])
    expect(existsSync(join(folder.root, 'never'))).toBe(false)
  })

  it('tells a failure as JSON where data is asked for as JSON', async () => {
    const told = async (...args: string[]) => {
      const { code, out, err } = await inProcess(['--data', join(folder.root, 'never'), ...args])
      expect([out, err.split('\n').length]).toEqual(['', 2])
      const { error } = JSON.parse(err) as { error: { exitCode: number } }
      expect(error.exitCode).toBe(code)
      return error
    }
    expect(await told('approvals', '-o', 'json')).toMatchObject({ code: 'NOTHING_YET', exitCode: 1 })
    expect(await told('-o', 'jsonl', 'run', ' ')).toEqual({ code: 'USAGE', exitCode: 2, message: 'the task is empty' })
    expect(await told('-o', 'json', 'aprove')).toEqual({
      code: 'USAGE',
      exitCode: 2,
      message: "unknown command 'aprove'\n(Did you mean approve or prove?)",
    })
    expect(await told('-o', 'json', 'run', '--nonsense')).toMatchObject({ code: 'USAGE', exitCode: 2 })
  })

  it.each([
    [['--role', 'cdoer'], 'there is no role "cdoer"; there are researcher, coder, reviewer', 'UNKNOWN_ROLE'],
    [['--tools', 'read_flie'], 'there is no tool read_flie', 'UNKNOWN_TOOL'],
    [['--approve', 'read_flie'], 'approve: there is no tool read_flie', 'UNKNOWN_TOOL'],
    [['--model', 'no-such'], 'the model "no-such" is not known', 'MODEL_NOT_FOUND'],
    [['--model', 'claude-sonet-5-5'], 'did you mean claude-sonnet-5-5', 'MODEL_NOT_FOUND'],
    [['--model', 'gpt-6'], 'did you mean gpt-6-sol, gpt-6-luna', 'MODEL_NOT_FOUND'],
    [['--secret', 'NEVER_SET'], 'no value for NEVER_SET', 'UNKNOWN_SECRET'],
    [['-w', '/nowhere/at/all'], '/nowhere/at/all does not exist', 'WORKSPACE_MISSING'],
    [['--key', 'k'.repeat(300)], '--key: ', 'INVALID_REQUEST'],
  ])('finds what is wrong in %j before anything is recorded, and ends with 2', async (args, says, code) => {
    const told = await folder.look('run', 'finish', ...(args[0] === '-w' ? [] : ['--no-workspace']), ...args)
    expect([told.code, told.out]).toEqual([2, ''])
    expect(told.err).toContain(says)
    expect(told.err).toContain(code)
    expect(JSON.parse((await folder.look('-o', 'json', 'runs', 'list')).out)).toEqual([])
  })

  it('answers with 2 where the command line names what is not there', async () => {
    const { runId } = await started()
    for (const [args, says] of [
      [['replay', runId, '--to', '99'], 'POINT_UNKNOWN'],
      [['fork', runId, '--turn', '99'], 'POINT_UNKNOWN'],
      [['approve', `${runId}.t9.c0`], 'NOT_FOUND'],
      [['secrets', 'remove', 'NEVER_SET'], 'there is no secret'],
      [['verify', '--file', '/nowhere.ndjson'], 'there is no file /nowhere.ndjson'],
      [['tail', '--no-follow', '--after', 'nonsense'], 'CURSOR_INVALID'],
    ] as const) {
      const { code, err } = await folder.look(...args)
      expect([args, code, err]).toEqual([args, 2, expect.stringContaining(says)])
    }
  })

  it('says what to type as this program was called, also where the API says it', async () => {
    const { KEEPUP_MODEL } = folder.env
    const args = ['--data', folder.data, 'run', 'x', '--no-workspace', '--secret', 'NEVER_SET']
    const { err } = await inProcess(args, { KEEPUP_MODEL }, { cwd: folder.root, program: 'node /there/keepup.js' })
    expect(err).toContain('or: node /there/keepup.js secrets set NEVER_SET (UNKNOWN_SECRET)')
  })

  it('names options as they are typed', async () => {
    const { code, err } = await folder.look('restore', (await started()).runId, '--tree', 'short')
    expect([code, err]).toEqual([2, expect.stringContaining('--tree: expected the id of a tree')])
  })

  it('does not work in its own folder unless that was said', async () => {
    const clone = fileURLToPath(new URL('../../..', import.meta.url))
    const { code, err } = await inProcess(['--data', folder.data, 'run', 'x'], {}, { cwd: clone })
    expect([code, err]).toEqual([2, expect.stringMatching(/keepup's own folder; name the one to work in/)])
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
    const { code, err } = await inProcess(['--data', data, 'run', 'x', '--no-workspace'])
    expect(code).toBe(1)
    expect(err).toContain('chmod 600')
  })
})
