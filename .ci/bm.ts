import { cpSync, rmSync } from 'node:fs'
import { bundle, inPackage } from './bundle.ts'
const d=process.argv[2]!
rmSync(d+'/bundle',{recursive:true,force:true})
await bundle(d,{placeOf:inPackage(d)})
