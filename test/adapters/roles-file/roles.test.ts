import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { parseRole, roleJsonSchema } from '../../../adapters/files/roles/parse-role.ts'
import { readRoles } from '../../../adapters/files/roles/read-roles.ts'
import { commandGateVerdict } from '../../../domain/agent/rules/command-gate.ts'

const known = { tools: ['read_file', 'write_file', 'run_command', 'todo:add'], servers: ['github'] }

const ROLE = {
  $schema: './role.schema.json',
  name: 'release',
  profile: 'Senior Release Engineer',
  goal: 'Release what is ready',
  prompt: 'Read CHANGELOG.md first.',
  model: 'anthropic:claude-sonnet-4-5',
  phases: [
    { name: 'check', allowedTools: ['read_file', 'github:list', 'github:*', 'todo:*'] },
    { name: 'release', allowedTools: ['run_command', '*', 'file_write'] },
    { name: 'report', allowedTools: [] },
  ],
  qualityGates: [
    { after: 'check', check: 'tests_pass' },
    { after: 'release', check: 'lint', argv: ['npm', 'run', 'lint'], timeoutMs: 60_000 },
  ],
  maxReactLoop: 12,
  limits: { wallClockMs: 600_000 },
  idempotentCommands: [['npm', 'run', 'lint']],
}
const parse = (role: unknown) => parseRole(JSON.stringify(role), 'roles/release.json', known)
const refusal = (role: unknown): string => {
  try {
    parse(role)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the role was accepted')
}

test('a role file gives the role, with what it leaves out filled in', () => {
  expect(parse(ROLE)).toEqual(ROLE)
  const { name, profile, goal, maxReactLoop } = ROLE
  const least = { name, profile, goal, maxReactLoop, phases: [{ name: 'work', allowedTools: [] }] }
  expect(parse(least)).toEqual({ ...least, qualityGates: [], limits: {} })
  const gate = { after: 'work', check: 'lint', argv: ['lint'] }
  expect(parse({ ...least, qualityGates: [gate] }).qualityGates).toEqual([{ ...gate, timeoutMs: 600_000 }])
})

describe('a file that cannot be used is refused by its name and key', () => {
  const phase = (more: object) => [{ name: 'check', allowedTools: [], ...more }, ...ROLE.phases.slice(1)]
  test.each<[object, string]>([
    [{ name: undefined }, 'name: is missing'],
    [{ name: 'Release Manager' }, 'name: expected a small letter'],
    [{ profile: '' }, 'profile: may not be empty'],
    [{ prompt: 'x'.repeat(40_000) }, 'prompt: '],
    [{ tools: ['*'] }, 'the file: unknown key "tools"'],
    [{ phases: [] }, 'phases: '],
    [
      { phases: phase({ allowedTools: ['read_file', 'grep'] }) },
      'phases.0.allowedTools.1: there is no tool "grep"; tools are read_file, run_command',
    ],
    [{ phases: phase({ allowedTools: ['gitlab:*'] }) }, 'phases.0.allowedTools.0: there is no tool "gitlab:*"'],
    [{ phases: phase({ allowedTools: ['todo:remove'] }) }, 'phases.0.allowedTools.0: there is no tool "todo:remove"'],
    [{ phases: phase({ allowedTools: ['github:'] }) }, 'phases.0.allowedTools.0: there is no tool "github:"'],
    [{ phases: phase({ name: 'report' }) }, 'phases.2.name: an earlier phase is called "report" too'],
    [{ phases: phase({ tools: [] }) }, 'phases.0: unknown key "tools"'],
    [
      { qualityGates: [{ after: 'deploy', check: 'tests_pass' }] },
      'qualityGates.0.after: there is no phase "deploy"; phases are check, release, report',
    ],
    [{ qualityGates: [{ after: 'check', check: 'lint' }] }, 'qualityGates.0.check: '],
    [
      { qualityGates: [{ after: 'check', check: 'tests_pass', argv: ['x'] }] },
      'qualityGates.0.check: the checks tests_exist, tests_pass, diagram_exists take no argv',
    ],
    [{ qualityGates: [{ after: 'check', check: 'lint', argv: [] }] }, 'qualityGates.0.argv: '],
    [{ qualityGates: [{ after: 'check', check: 'lint', argv: 'npm run lint' }] }, 'qualityGates.0.argv: '],
    [
      { qualityGates: [ROLE.qualityGates[0], ROLE.qualityGates[0]] },
      'qualityGates.1.check: "tests_pass" stands after "check" already',
    ],
    [{ maxReactLoop: 0 }, 'maxReactLoop: '],
    [{ limits: { maxTurns: 5 } }, 'limits: unknown key "maxTurns"'],
    [{ limits: { wallClockMs: null } }, 'limits.wallClockMs: '],
    [{ idempotentCommands: [[]] }, 'idempotentCommands.0: '],
  ])('%o', (change, message) => {
    const told = refusal({ ...ROLE, ...change })
    expect(told).toContain('roles/release.json: ')
    expect(told).toContain(message)
  })

  test.each<[string, string]>([
    ['{"name": "release",}', 'no JSON at line 1, column 20'],
    ['{"name": "a", "name": "b"}', 'no JSON at line 1, column 15: expected a key that its object does not have yet'],
    ['// a comment\n{}', 'no JSON at line 1, column 1'],
    ['[]', 'the file: '],
    ['null', 'the file: '],
    ['['.repeat(100_000), 'nested deeper than 16 levels'],
    [' '.repeat(300_000), 'longer than 262144 characters'],
  ])('%.30s', (text, message) => {
    expect(() => parseRole(text, 'roles/x.json', known)).toThrow(message)
    expect(() => parseRole(text, 'roles/x.json', known)).toThrow(/^roles\/x\.json: /)
  })

  test('all faults at once', () => {
    const told = refusal({ ...ROLE, profile: '', goal: 7, maxReactLoop: -1 })
    for (const key of ['profile', 'goal', 'maxReactLoop']) expect(told).toContain(`${key}: `)
  })
})

test('the JSON Schema accepts what the reader accepts, and refuses unknown keys and shapes', () => {
  const schema = z.fromJSONSchema(roleJsonSchema() as never)
  expect(schema.safeParse(ROLE).success).toBe(true)
  for (const wrong of [
    { ...ROLE, tools: [] },
    { ...ROLE, phases: [] },
    { ...ROLE, qualityGates: [{ after: 'x', check: 'lint' }] },
  ])
    expect(schema.safeParse(wrong).success).toBe(false)
})

test('a folder gives the roles of its files, and a sentence for each file that cannot be used', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keepup-roles-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'a.json'), JSON.stringify(ROLE))
  await writeFile(join(folder, 'b.json'), JSON.stringify(ROLE))
  await writeFile(join(folder, 'c.json'), '{')
  await writeFile(join(folder, 'd.json'), JSON.stringify({ ...ROLE, name: 'other' }))
  await writeFile(join(folder, 'notes.txt'), 'not a role')
  const { roles, faults } = await readRoles(folder, known)
  expect([...roles.keys()]).toEqual(['release', 'other'])
  expect(roles.get('release')?.file).toBe(join(folder, 'a.json'))
  expect(faults).toEqual([
    `${join(folder, 'b.json')}: name: ${join(folder, 'a.json')} is called "release" too`,
    expect.stringMatching(/c\.json: no JSON at line 1, column 2/),
  ])
  expect(await readRoles(join(folder, 'none'), known)).toEqual({ roles: new Map(), faults: [], faulty: new Set() })
})

test.each([
  [{ exitCode: 0 }, true, '"npm run lint" ended with exit code 0:\nclean\nno warnings'],
  [{ exitCode: 1 }, false, '"npm run lint" ended with exit code 1:\nclean\nno warnings'],
  [{ exitCode: null, signal: 'SIGSEGV' }, false, '"npm run lint" was ended by SIGSEGV:\nclean\nno warnings'],
  [
    { exitCode: 0, timedOut: true },
    false,
    '"npm run lint" was ended at its time limit of 60000 ms:\nclean\nno warnings',
  ],
  [{ exitCode: 0, stdout: '', stderr: '' }, true, '"npm run lint" ended with exit code 0'],
])('a command gate whose command ends with %o holds: %s', (end, passed, evidence) => {
  const gate = { argv: ['npm', 'run', 'lint'], timeoutMs: 60_000 }
  const all = { signal: null, timedOut: false, stdout: 'clean\n', stderr: 'no warnings\n', ...end }
  expect(commandGateVerdict(gate, all)).toEqual({ passed, evidence })
})

test('the evidence of a command gate is bounded', () => {
  const end = { exitCode: 1, signal: null, timedOut: false, stdout: 'x'.repeat(100_000), stderr: 'the end' }
  const { evidence } = commandGateVerdict({ argv: ['x'], timeoutMs: 1 }, end)
  expect(Buffer.byteLength(evidence)).toBeLessThan(4_400)
  expect(evidence).toMatch(/the end$/)
})

test('what is called as a role and is no file, such as a pipe, holds nothing up', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keepup-roles-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  execFileSync('mkfifo', [join(folder, 'pipe.json')])
  await mkdir(join(folder, 'folder.json'))
  const { faults } = await readRoles(folder, known)
  expect(faults).toEqual(['folder.json', 'pipe.json'].map((name) => expect.stringMatching(`${name}: it is no file`)))
})
