import { spawnSync } from 'node:child_process'
import { type TestContext, test } from 'vitest'

/**
 * A test that looks at the program from outside with a tool of the system. Where the tool cannot be had the test fails
 * in CI and says what to install; elsewhere it is reported as not run, with the reason.
 */
export function testWith(
  tool: { readonly probe: readonly [string, ...string[]]; readonly install: string },
  name: string,
  body: (context: TestContext) => Promise<void>,
): void {
  const [program, ...args] = tool.probe
  const found = spawnSync(program, args, { stdio: 'ignore' }).status === 0
  test(name, async (context) => {
    if (found) return body(context)
    const reason = `not run: "${tool.probe.join(' ')}" does not work here; ${tool.install}`
    if (process.env.CI === 'true') throw new Error(reason)
    context.skip(reason)
  })
}
