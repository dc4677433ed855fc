# srcfind-merge merges the catalogues of several images into one, which has each source once.
cwlVersion: v1.2
class: CommandLineTool
label: merges catalogues of srcfind
baseCommand: srcfind-merge
hints:
  SoftwareRequirement: {packages: {srcfind: {}}}
requirements:
  ResourceRequirement: {coresMin: $(inputs.threads)}
arguments:
  - {prefix: --output, valueFrom: $(inputs.name).$(inputs.format)}
  - {prefix: --threads, valueFrom: $(runtime.cores)}

inputs:
  catalogues:
    type: File[]
    # of all catalogues or of none
    secondaryFiles:
      - {pattern: $(self.nameroot).gaussians$(self.nameext), required: false}
      - {pattern: $(self.nameroot).injections$(self.nameext), required: false}
    inputBinding: {position: 1}
    doc: "catalogues as fits, ecsv or json; csv with radius"
  name: {type: string, default: merged, doc: the files that are written begin with it}
  format:
    type: {type: enum, symbols: [csv, json, vot, fits, ecsv]}
    default: fits
    doc: the suffix of the merged catalogue
  threads: {type: int, default: 1, doc: CPU cores}
  radius: {type: float?, inputBinding: {prefix: --radius}, doc: rows nearer than this (arcsec) are one source (half of the beam)}
  merge_duplicates:
    type: ["null", {type: enum, symbols: [drop, keep]}]
    inputBinding: {prefix: --merge-duplicates}
    doc: drop duplicate rows of a source (drop)

outputs:
  merged: {type: File, outputBinding: {glob: $(inputs.name).$(inputs.format)}}
  gaussians_table: {type: File?, outputBinding: {glob: $(inputs.name).gaussians.$(inputs.format)}}
  completeness_table: {type: File?, outputBinding: {glob: $(inputs.name).completeness.$(inputs.format)}}
