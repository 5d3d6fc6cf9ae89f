import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { GROUPS, SYNONYMS } from '../../../api/cli/commands/groups.ts'
import { COMMANDS, likeIt } from '../../../api/cli/commands/index.ts'
import { kitOf } from '../../../api/cli/commands/kit.ts'
import { inProcess } from '../support/cli.ts'

describe('the files of commands', () => {
  const named = (commands: readonly Command[]): string[] =>
    commands.flatMap((one) => [one.name(), ...one.commands.map((sub) => `${one.name()} ${sub.name()}`)])

  it.each(COMMANDS.map((file) => [file.names[0], file] as const))(
    'register what stands in the list: %s',
    async (_, file) => {
      const program = new Command('keepup')
      const add = await file.load()
      add(
        program,
        kitOf({ io: {} as never, likeIt, runCli: async () => 0 }, () => {}),
      )
      expect(named(program.commands)).toEqual(file.names)
    },
  )

  it('belong to one group each', () => {
    const all = COMMANDS.flatMap(({ names }) => names).filter((name) => !name.includes(' '))
    expect(GROUPS.flatMap(({ commands }) => commands).sort()).toEqual(all.sort())
  })

  it('are all shown by "help all"', async () => {
    const { code, out } = await inProcess(['help', 'all'])
    const shown = [...out.matchAll(/^ {2}([a-z][\w-]*)(?: .*)?$/gm)].map(([, name]) => name)
    const all = GROUPS.flatMap(({ commands }) => commands)
    expect(code).toBe(0)
    expect(shown.filter((name) => all.includes(name!)).sort()).toEqual(all.toSorted())
  })

  it('are what every synonym leads to', () => {
    const names = COMMANDS.flatMap((file) => file.names)
    const unknown = Object.values(SYNONYMS)
      .flat()
      .filter((name) => !names.includes(name))
    expect(unknown).toEqual([])
    // A synonym that is a command would never be looked up.
    expect(Object.keys(SYNONYMS).filter((word) => names.includes(word))).toEqual([])
  })

  it('are found behind options of the whole program', async () => {
    const { code, out } = await inProcess(['-o', 'json', '--by', 'run', 'roles', '--help'])
    expect([code, out]).toEqual([0, expect.stringMatching(/^Usage: keepup roles /)])
  })

  it('are all known to a word that is none of them', async () => {
    const { err } = await inProcess(['verfy'])
    expect(err).toContain('Did you mean')
    expect(err).toContain('verify')
  })
})
