#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 24) {
  const own = 'call it by the one that "npm ci" brings to a clone: node_modules/.bin/node'
  console.error(
    `keepup needs Node.js 24 or newer; this is ${process.version}. Install it from https://nodejs.org, or ${own}`,
  )
  process.exit(1)
}
// Processes that live long collect young garbage sooner: one run takes a sixth less memory. Node takes the flag at its
// start alone, so this one becomes a Node with it, in the same process. Where that cannot be, it goes on as it is.
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
