import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { inProcess } from '../support/cli.ts'

describe('completion', () => {
  const script = async (shell: string) => (await inProcess(['completion', shell])).out

  it.each([
    [
      ['keepup', 'ru'],
      ['run', 'runs'],
    ],
    [['keepup', 'runs', 's'], ['show']],
    [['keepup', '--data', '/tmp', 'transcript', 'x', '--ag'], ['--agent']],
    [
      ['keepup', 'approve', '--re'],
      ['--reason', '--resume'],
    ],
    [['keepup', 'list', '--b'], ['--by']],
  ])('in bash completes %j', async (words, found) => {
    const list = words.map((word) => `'${word}'`).join(' ')
    const ask = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _keepup; printf '%s\\n' "\${COMPREPLY[@]}"`
    const out = execFileSync('bash', ['-c', `${await script('bash')}\n${ask}`], { encoding: 'utf8' })
    expect(out.trim().split('\n').sort()).toEqual(found)
  })

  it('knows every shell that it names, and no other', async () => {
    expect(await script('zsh')).toMatch(/^autoload -U \+X bashcompinit && bashcompinit\n_keepup\(\)/)
    const fish = await script('fish')
    expect(fish).toContain("complete -c keepup -n '__fish_use_subcommand' -a transcript -d ")
    expect(fish).toMatch(/^complete -c keepup -n '__fish_seen_subcommand_from runs; and not [^']+' -a show /m)
    expect((await inProcess(['completion', 'tcsh'])).code).toBe(2)
  })
})
