import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCommand, quoteCommand } from '../../domain/calls/command-line.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

describe('parseCommand', () => {
  it('takes apart what quoteCommand put together', () => {
    const word = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0'))
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }).filter(([first]) => first !== ''),
        (argv) => {
          fc.pre(!/^(?:[A-Za-z_]\w*=|in$|do$|if$|fi$)/.test(argv[0] as string))
          expect(parseCommand(quoteCommand(argv))).toEqual(argv)
        },
      ),
    )
  })

  it('agrees with a real shell wherever it gives an answer', () => {
    const bits = [
      'a',
      'b=c',
      ' ',
      '  ',
      '\t',
      "'",
      '"',
      '\\',
      "'x y'",
      '"x\\"y"',
      '"x\\ny"',
      '\\ ',
      '-',
      '=',
      '%',
      ',',
      '}',
      '#',
    ]
    const line = fc.array(fc.constantFrom(...bits), { maxLength: 8 }).map((parts) => parts.join(''))
    let compared = 0
    fc.assert(
      fc.property(fc.array(line, { minLength: 50, maxLength: 100, size: 'max' }), (lines) => {
        const known = lines.map((text) => `p ${text}`).filter((text) => parseCommand(text) !== null)
        const script = `p() { for a; do printf '%s\\001' "$a"; done; printf '\\002'; }\n${known.join('\n')}`
        const shell = execFileSync('/bin/sh', ['-c', script]).toString('utf8').split('\u0002').slice(0, -1)
        const ours = known.map((text) =>
          parseCommand(text)
            ?.slice(1)
            .map((a) => `${a}\u0001`)
            .join(''),
        )
        expect(ours).toEqual(shell)
        compared += known.length
      }),
      { numRuns: 10 },
    )
    expect(compared).toBeGreaterThan(100)
  })

  it.each([
    ['npm test', ['npm', 'test']],
    ['  npm   run  "a b" ', ['npm', 'run', 'a b']],
    ["sh -c 'echo $HOME | cat'", ['sh', '-c', 'echo $HOME | cat']],
    ["'if' x", ['if', 'x']],
    ['grep a=b', ['grep', 'a=b']],
    ['', null],
    ['npm test; true', null],
    ['npm test && x', null],
    ['npm test > out', null],
    ['npm test $X', null],
    ['npm test "$X"', null],
    ['npm test `x`', null],
    ['npm test *.js', null],
    ['npm test # all', null],
    ['CI=1 npm test', null],
    ['! npm test', null],
    ['if x', null],
    ['npm test\nrm -rf x', null],
    ["npm 'test", null],
    ['~/x', null],
    ['npm \\\n test', null],
    ['npm te\\\nst', null],
  ])('%j is %j', (command, argv) => {
    expect(parseCommand(command)).toEqual(argv)
  })
})
