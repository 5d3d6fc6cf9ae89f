import { LAWS, ROWS, RULES } from './conformance.ts'
import { type Mutation, mutated, runMutated } from './support/mutations/mutation.ts'

// npm run test:mutations [what]: switches every rule off, one at a time, and says which faults its tests did not catch.

interface Case {
  readonly what: string
  readonly test: string
  readonly name?: string
  readonly fault: Mutation
}

const cases: Case[] = [
  ...ROWS.map((row) => ({ ...row, what: `${row.must} ${row.says}` })),
  ...LAWS.map((row) => ({ ...row, what: `law ${row.law}: ${row.says}` })),
  ...RULES.map((row) => ({ ...row, what: `${row.rule}: ${row.says}` })),
].filter(({ what }) => process.argv.slice(2).every((word) => what.includes(word)))

const AT_ONCE = 2
const missed: string[] = []
const next = cases.values()

async function work(): Promise<void> {
  for (const { what, test, name, fault } of next) {
    const began = performance.now()
    const { passed, output } = await runMutated(mutated(fault), test, name)
    const seconds = ((performance.now() - began) / 1000).toFixed(0)
    const failed = /Tests .*failed/.test(output.replaceAll(/\u001b\[\d+m/g, ''))
    console.log(`${!passed && failed ? 'caught' : 'MISSED'}  ${seconds.padStart(4)} s  ${what}`)
    if (passed || !failed) missed.push(passed ? what : `${what}\n${output}`)
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work))
console.log(`${cases.length - missed.length} of ${cases.length} faults were caught`)
for (const what of missed) console.error(`not caught: ${what}`)
if (missed.length > 0) process.exitCode = 1
