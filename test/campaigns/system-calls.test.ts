import { expect, test } from 'vitest'
import { checkFaults } from '../support/crash-images/check-faults.ts'
import { SCENARIOS } from '../support/crash-images/scenarios.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'

// Each system call that changes a file or makes a change durable: the process is killed there, or the call fails, or writes
// less. Then no acknowledged event is lost, `verify` finds nothing, and the same command ends well. `EVERY=10` tries a tenth
// of the faults, chosen by FAULT_SEED.

const EVERY = Number(process.env.EVERY ?? 1)

for (const scenario of SCENARIOS)
  test(scenario.name, { tags: ['strace', 'git'] }, async () => {
    const began = performance.now()
    const draw = draws(FAULT_SEED)
    const { calls, planned, tried, traced, met, failed, found } = await checkFaults(scenario, () => draw(EVERY) === 0)
    const seconds = Math.round((performance.now() - began) / 1000)
    console.log(
      `${scenario.name}: ${calls} calls, ${tried} of ${planned} faults tried, ${met} met, ${traced - met} not met, ` +
        `${failed} ended the program; in ${seconds} s (FAULT_SEED=${FAULT_SEED})`,
    )
    expect(found).toEqual([])
    expect(met).toBeGreaterThanOrEqual(traced / 2)
  })
