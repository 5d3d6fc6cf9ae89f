#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 24) {
  const own = 'call it by the one that "npm ci" brings to a clone: node_modules/.bin/node'
  console.error(
    `keepup needs Node.js 24 or newer; this is ${process.version}. Install it from https://nodejs.org, or ${own}`,
  )
  process.exit(1)
}
// Processes that live long collect young garbage sooner: one run takes a sixth less memory. Node takes the flag only at its
// start, and a parent process would double the memory, so this process replaces itself by `process.execve`. That function
// is experimental, and Windows lacks it: without it, keepup runs with more memory. test/api/start-flags.test.ts notices.
const YOUNG = '--max-semi-space-size'
const LIVES_LONG = /^(run|resume|serve|worker|acp|mcp)$/
const isSet = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].some((flags) => flags.includes(YOUNG))
if (!isSet && process.platform === 'linux' && process.argv.slice(2).some((word) => LIVES_LONG.test(word)))
  try {
    process.execve?.(process.execPath, [process.execPath, `${YOUNG}=8`, ...process.execArgv, ...process.argv.slice(1)])
  } catch {
    // As where the file of this Node was replaced: it needs more memory, and does the same.
  }
Promise.all([import('node:fs'), import('node:module'), import('node:os'), import('node:path')])
  .then(([{ existsSync }, { enableCompileCache }, { homedir }, { join }]) => {
    // Compiled code is run as it lies there: not in the folder for temporary files, which other users fill too.
    enableCompileCache(process.env.NODE_COMPILE_CACHE || join(homedir(), '.cache', 'keepup', 'compiled'))
    // The source in a clone, what was compiled of it in the package.
    const source = new URL('./main.ts', import.meta.url)
    return import((existsSync(source) ? source : new URL('./main.js', import.meta.url)).href)
  })
  .catch((error) => {
    console.error(error)
    process.exit(1)
  })
