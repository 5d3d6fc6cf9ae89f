#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 24) {
  const own = 'call it by the one that "npm ci" brings to a clone: node_modules/.bin/node'
  console.error(
    `keepup needs Node.js 24 or newer; this is ${process.version}. Install it from https://nodejs.org, or ${own}`,
  )
  process.exit(1)
}
// A smaller young generation for long-lived processes: a run takes a sixth less memory. Node accepts the flag only at its
// start, and a parent process would double the memory, so this process replaces itself by `process.execve`. That function
// is experimental, and Windows lacks it: without it, keepup runs with more memory. test/api/cli/start-flags.test.ts notices.
const YOUNG = '--max-semi-space-size'
const LIVES_LONG = /^(run|resume|serve|worker|acp|mcp)$/
const isSet = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].some((flags) => flags.includes(YOUNG))
if (!isSet && process.platform === 'linux' && process.argv.slice(2).some((word) => LIVES_LONG.test(word)))
  try {
    process.execve?.(process.execPath, [process.execPath, `${YOUNG}=8`, ...process.execArgv, ...process.argv.slice(1)])
  } catch {
    // For example, the file of this Node was replaced. Continue without the flag, with more memory.
  }
Promise.all([import('node:fs'), import('node:module'), import('node:os'), import('node:path')])
  .then(([{ existsSync }, { enableCompileCache }, { homedir }, { join }]) => {
    // Node runs cached code without a check, so do not use the temporary folder, where other users can write.
    enableCompileCache(process.env.NODE_COMPILE_CACHE || join(homedir(), '.cache', 'keepup', 'compiled'))
    // A clone has the source, the package has compiled code.
    const source = new URL('./main.ts', import.meta.url)
    return import((existsSync(source) ? source : new URL('./main.js', import.meta.url)).href)
  })
  .catch((error) => {
    console.error(error)
    process.exit(1)
  })
