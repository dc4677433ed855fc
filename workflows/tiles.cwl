# Searches each tile of a survey, and merges the catalogues: merged.fits has each source once. The catalogue of P1.fits is
# P1.cat.fits, and its maps and tables are P1.cat.NAME.fits. Tiles must differ in their names; `basename` in a file of inputs
# gives a tile another one.
cwlVersion: v1.2
class: Workflow
label: finds the sources of tiles, and merges them
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  MultipleInputFeatureRequirement: {}

inputs:
  tiles: {type: "File[]", doc: FITS images}
  name: {type: string, default: merged, doc: the merged files begin with it}
  format:
    type: {type: enum, symbols: [csv, json, vot, fits, ecsv]}
    default: fits
    doc: the suffix of the merged catalogue
  threads: {type: int, default: 1, doc: CPU cores for each tile}
  survey: {type: boolean?, doc: "local noise, islands down to 3 rms, and fits"}
  threshold: {type: float?, doc: a source has a pixel above N rms (5)}
  island: {type: float?, doc: islands extend down to N rms (as threshold)}
  local: {type: boolean?, doc: measure background and rms from place to place}
  rms_box: {type: string?, doc: "as local, in boxes of pixels: SIZE or SIZE,STEP"}
  background: {type: string?, doc: "median, zero, or a value"}
  deblend: {type: boolean?, doc: divide islands into sources}
  fit: {type: boolean?, doc: "as deblend, and fit Gaussians"}
  scales: {type: string?, doc: "find emission wider than the beam, on these scales in beams: 2,4,8"}
  save: {type: "string[]?", doc: maps and tables of each tile}
  options: {type: "string[]?", doc: "other options of srcfind: --shapes, beam"}

steps:
  find:
    run: srcfind.cwl
    scatter: image
    in:
      image: tiles
      name: {valueFrom: $(inputs.image.nameroot).cat}
      threads: threads
      survey: survey
      threshold: threshold
      island: island
      local: local
      rms_box: rms_box
      background: background
      deblend: deblend
      fit: fit
      scales: scales
      save: save
      options: options
    out: [catalogue, saved_rms, saved_background, saved_snr, saved_islands, saved_sources, saved_model, saved_residual,
          saved_injected, saved_mask, saved_picture, saved_gaussians, saved_islands_table, saved_covariance]
  merge:
    run: merge.cwl
    in: {catalogues: find/catalogue, name: name, format: format}
    out: [merged, gaussians_table, completeness_table]

outputs:
  merged: {type: File, outputSource: merge/merged}
  gaussians_table: {type: File?, outputSource: merge/gaussians_table}
  completeness_table: {type: File?, outputSource: merge/completeness_table}
  catalogues: {type: "File[]", outputSource: find/catalogue}
  saved:
    type: File[]
    outputSource: [find/saved_rms, find/saved_background, find/saved_snr, find/saved_islands, find/saved_sources,
                   find/saved_model, find/saved_residual, find/saved_injected, find/saved_mask, find/saved_picture,
                   find/saved_gaussians, find/saved_islands_table, find/saved_covariance]
    linkMerge: merge_flattened
    pickValue: all_non_null
