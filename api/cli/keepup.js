#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 24) {
  const own = 'call it by the one that "npm ci" brings to a clone: node_modules/.bin/node'
  console.error(
    `keepup needs Node.js 24 or newer; this is ${process.version}. Install it from https://nodejs.org, or ${own}`,
  )
  process.exit(1)
}
Promise.all([import('node:fs'), import('node:module')])
  .then(([{ existsSync }, { enableCompileCache }]) => {
    enableCompileCache()
    // The source in a clone, what was compiled of it in the package.
    const source = new URL('./main.ts', import.meta.url)
    return import((existsSync(source) ? source : new URL('./main.js', import.meta.url)).href)
  })
  .catch((error) => {
    console.error(error)
    process.exit(1)
  })
