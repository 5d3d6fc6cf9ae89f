#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`keepup needs Node.js 24 or newer; this is ${process.version}. Install it from https://nodejs.org`)
  process.exit(1)
}
// The sources in a clone, what was compiled of them in the package.
const places = ['./main.ts', './main.js', '../../dist/api/cli/main.js'].map((place) => new URL(place, import.meta.url))
Promise.all([import('node:fs'), import('node:module')])
  .then(([{ existsSync }, { enableCompileCache }]) => {
    enableCompileCache()
    return import((places.find((place) => existsSync(place)) ?? places[0]).href)
  })
  .catch((error) => {
    console.error(error)
    process.exit(1)
  })
