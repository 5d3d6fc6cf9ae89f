import { expect, it } from 'vitest'
import { namesInCommand } from '../../domain/agent/rules/command-files.ts'

it.each([
  ['sh build.sh', ['sh', 'build.sh']],
  ['./build.sh && rm -rf x', ['./build.sh', 'rm', 'x']],
  ["sh 'my build.sh'", ['sh', 'my build.sh', 'my', 'build.sh']],
  ['sh my\\ build.sh; true', ['sh', 'my build.sh', 'my', 'build.sh', 'true']],
  ['bash -c "sh build.sh"', ['bash', 'sh build.sh', 'sh', 'build.sh']],
  ['node --import=./x.js "a"b.js', ['node', './x.js', 'ab.js']],
  ['npm test', ['npm', 'package.json', 'test']],
  ['make', ['make', 'GNUmakefile', 'makefile', 'Makefile']],
  ['cd sub && sh x.sh', ['cd', 'sub', 'sh', 'sub/sh', 'x.sh', 'sub/x.sh']],
  [
    '(cd a; cd b; make)',
    [
      'cd',
      'a',
      'a/cd',
      'b',
      'a/b',
      'make',
      'a/b/make',
      'GNUmakefile',
      'a/b/GNUmakefile',
      'makefile',
      'a/b/makefile',
      'Makefile',
      'a/b/Makefile',
    ],
  ],
  ['cat <in.txt >out.txt', ['cat', 'in.txt', 'out.txt']],
])('%s names %j', (command, names) => {
  expect(namesInCommand(command)).toEqual({ names, more: false })
})

it.each(['sh bu*.sh', 'sh "$X"', 'sh `ls`', 'sh ~/x', 'sh {a,b}.sh', 'sh buil?.sh', 'sh [b]uild.sh'])(
  '%s computes names',
  (command) => {
    expect(namesInCommand(command).more).toBe(true)
  },
)

it('a long command is looked through in linear time, up to 64 names', () => {
  expect(namesInCommand(Array.from({ length: 100_000 }, (_, n) => `f${n}`).join(' '))).toMatchObject({
    names: { length: 64 },
    more: true,
  })
  expect(namesInCommand(`'${'\\'.repeat(500_000)}`)).toEqual({ names: [], more: true })
})
