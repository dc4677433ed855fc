# srcfind finds the sources of an image. `cwltool srcfind.cwl --help` lists the inputs; `man srcfind` has each option.
cwlVersion: v1.2
class: CommandLineTool
label: finds the sources in a radio-astronomy image
baseCommand: srcfind
hints:
  SoftwareRequirement: {packages: {srcfind: {}}}
requirements:
  ResourceRequirement: {coresMin: $(inputs.threads)}
  # The catalogue names its image: by its own name, not by a path that is gone afterwards.
  InitialWorkDirRequirement: {listing: [$(inputs.image)]}
arguments:
  - {prefix: --output, valueFrom: $(inputs.name).$(inputs.format)}
  - {prefix: --threads, valueFrom: $(runtime.cores)}
# Exit status 0 alone is a success, as of an image without sources; else there is no catalogue, and the step fails.

inputs:
  image: {type: File, inputBinding: {position: 2, valueFrom: $(self.basename)}, doc: a FITS image}
  name: {type: string, default: catalogue, doc: all files that are written begin with it}
  format:
    type: {type: enum, symbols: [csv, json, vot, fits, ecsv, reg, crtf, skymodel, sagecal, txt]}
    default: fits
    doc: the suffix of the catalogue
  threads: {type: int, default: 1, doc: CPU cores}
  survey: {type: boolean?, inputBinding: {prefix: --survey}, doc: "local noise, islands down to 3 rms, and fits"}
  threshold: {type: float?, inputBinding: {prefix: --threshold}, doc: a source has a pixel above N rms (5)}
  island: {type: float?, inputBinding: {prefix: --island}, doc: islands extend down to N rms (as threshold)}
  local: {type: boolean?, inputBinding: {prefix: --local}, doc: measure background and rms from place to place}
  rms_box: {type: string?, inputBinding: {prefix: --rms-box}, doc: "as local, in boxes of pixels: SIZE or SIZE,STEP"}
  background: {type: string?, inputBinding: {prefix: --background}, doc: "median, zero, or a value"}
  rms_map: {type: File?, inputBinding: {prefix: --rms-map}, doc: take the rms from this image}
  background_map: {type: File?, inputBinding: {prefix: --background-map}, doc: take the background from this image}
  mask: {type: File?, inputBinding: {prefix: --mask}, doc: "search these regions, or ignore pixels where this image is 0 or blank"}
  mask_noise: {type: boolean?, inputBinding: {prefix: --mask-noise}, doc: "the noise, too, is only of the regions of the mask"}
  detect_on: {type: File?, inputBinding: {prefix: --detect-on}, doc: "find sources in this image, measure them in the other"}
  measure_in:
    type: File[]?
    inputBinding: {prefix: --measure-in, itemSeparator: ","}
    doc: measure the sources in the planes of these images, too
  at: {type: File?, inputBinding: {prefix: --at}, doc: measure at the positions of this catalogue}
  deblend: {type: boolean?, inputBinding: {prefix: --deblend}, doc: divide islands into sources}
  fit: {type: boolean?, inputBinding: {prefix: --fit}, doc: "as deblend, and fit Gaussians"}
  scales:
    type: string?
    inputBinding: {prefix: --scales=, separate: false}
    doc: "find emission wider than the beam, on these scales in beams: 2,4,8"
  negative: {type: boolean?, inputBinding: {prefix: --negative}, doc: "find the sources of the negated image, too"}
  completeness:
    type: int?
    inputBinding: {prefix: --completeness=, separate: false}
    doc: "inject N sources, and count those found"
  columns: {type: string?, inputBinding: {prefix: --columns}, doc: "these columns: a list, or @aegean, @pybdsf, @selavy"}
  save: {type: "string[]?", inputBinding: {prefix: --save, itemSeparator: ","}, doc: "maps and tables, saved_NAME of the outputs"}
  options: {type: "string[]?", inputBinding: {position: 1}, doc: "other options of the command: --shapes, beam"}

outputs:
  catalogue:
    type: File
    # what srcfind-merge merges with it
    secondaryFiles:
      - {pattern: $(self.nameroot).gaussians$(self.nameext), required: false}
      - {pattern: $(self.nameroot).injections$(self.nameext), required: false}
    outputBinding: {glob: $(inputs.name).$(inputs.format)}
  # one for each name of `save`
  saved_rms: {type: File?, outputBinding: {glob: $(inputs.name).rms.fits}}
  saved_background: {type: File?, outputBinding: {glob: $(inputs.name).background.fits}}
  saved_snr: {type: File?, outputBinding: {glob: $(inputs.name).snr.fits}}
  saved_islands: {type: File?, outputBinding: {glob: $(inputs.name).islands.fits}}
  saved_sources: {type: File?, outputBinding: {glob: $(inputs.name).sources.fits}}
  saved_model: {type: File?, outputBinding: {glob: $(inputs.name).model.fits}}
  saved_residual: {type: File?, outputBinding: {glob: $(inputs.name).residual.fits}}
  saved_injected: {type: File?, outputBinding: {glob: $(inputs.name).injected.fits}}
  saved_mask: {type: File?, outputBinding: {glob: $(inputs.name).mask.fits}}
  saved_picture: {type: File?, outputBinding: {glob: $(inputs.name).picture.png}}
  saved_gaussians: {type: File?, outputBinding: {glob: $(inputs.name).gaussians.$(inputs.format)}}
  saved_islands_table: {type: File?, outputBinding: {glob: $(inputs.name).islands_table.$(inputs.format)}}
  saved_covariance: {type: File?, outputBinding: {glob: $(inputs.name).covariance.$(inputs.format)}}
  # of measure_in, completeness, and negative
  planes_table: {type: File?, outputBinding: {glob: $(inputs.name).planes.$(inputs.format)}}
  completeness_table: {type: File?, outputBinding: {glob: $(inputs.name).completeness.$(inputs.format)}}
  injections_table: {type: File?, outputBinding: {glob: $(inputs.name).injections.$(inputs.format)}}
  reliability_table: {type: File?, outputBinding: {glob: $(inputs.name).reliability.$(inputs.format)}}
  # of the format sagecal
  clusters: {type: File?, outputBinding: {glob: $(inputs.name).cluster}}
