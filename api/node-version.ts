// First import of each library entry: an old Node gets a sentence instead of the first thing that it does not know.
if (Number(process.versions.node.split('.')[0]) < 24) {
  throw new Error(`keepup needs Node.js 24 or newer; this is ${process.version}. Install it from https://nodejs.org`)
}

export {}
